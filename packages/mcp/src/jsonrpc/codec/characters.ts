// The characters that make the structure of a JSON text, as `charCodeAt` gives them.

export const backslash = 0x5c;
export const closeBrace = 0x7d;
export const closeBracket = 0x5d;
export const colon = 0x3a;
export const comma = 0x2c;
export const openBrace = 0x7b;
export const openBracket = 0x5b;
export const quote = 0x22;
