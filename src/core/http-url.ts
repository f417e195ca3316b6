/** Addresses that users name, which the server asks or sends to. */

/** Null: it has none. */
export function urlProblem(text: string): string | null {
  const url = URL.parse(text)
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) return 'must be an http or https URL'
  if (url.username !== '' || url.password !== '') return 'must not hold a name or a password: use a secret'
  return null
}

/** As it may be shown: a query may hold a secret. */
export const withoutQuery = ({ origin, pathname }: URL): string => `${origin}${pathname}`
