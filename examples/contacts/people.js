import { NewContact } from "./contact.js";

/** A few people, to try the server with. */
export const people = [
  { name: "Ada Lovelace", email: "ada@example.com", company: "Analytical Engines", notes: "Writes programs" },
  { name: "Charles Babbage", email: "charles@example.com", company: "Analytical Engines", phone: "+44 20 0000 1871" },
  { name: "Émilie du Châtelet", email: "emilie@example.org", company: "Cirey", notes: "Translates Newton" },
  { name: "Srinivasa Ramanujan", phone: "+91 44 0000 1729", notes: "Knows every number in person" },
].map((person) => NewContact.parse(person));
