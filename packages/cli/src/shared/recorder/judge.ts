/** What the thread of a recorder loads of the rest of the program, and only to judge what it records. */
export { Conversation } from "@parlance/wire";
