/** Something that the rules must never let happen. */
export class Violation extends Error {}
