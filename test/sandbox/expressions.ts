/** `${source}`, without a placeholder that reads like a forgotten backtick. */
export const e = (source: string) => ['$', '{', source, '}'].join('')
