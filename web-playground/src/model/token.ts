/** True if a link's fragment is there for a token, be it a broken one. */
export const hasToken = (hash: string): boolean => /[#&]token=/.test(hash)

/** The token of a link's fragment, which browsers do not send; null when there is none. */
export const tokenIn = (hash: string): string | null => /[#&]token=([\w.~+/=-]+)/.exec(hash)?.[1] ?? null

export const isToken = (text: string): boolean => /^[\w.~+/=-]{1,8192}$/.test(text)
