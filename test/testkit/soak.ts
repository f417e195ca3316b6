/** How much of a test that has no end of its own: a short form in every run, the long one with SOAK=1, as `npm run soak`. */
export const soak = <T>(short: T, long: T): T => (process.env.SOAK ? long : short)
