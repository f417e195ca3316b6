/** How much of a test that could go on for ever: a short form in every run, the long one with `npm run soak`. */
export const soak = <T>(short: T, long: T): T => (process.env.SOAK ? long : short)
