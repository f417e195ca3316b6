/** Headers of a request as expressions see them and the log keeps them: without what authenticates it. */

/** Also those of a proxy in front of this server. */
const SECRET = /token|secret|signature|assertion|authorization|cookie|api-?key|password/

/** Characters of all names and values together; further headers are left out. */
const MAX = 16_384

/** @param signature the header of the hook's own signature */
export function withoutSecrets(
  headers: Readonly<Record<string, string>>,
  signature: string | null,
): Readonly<Record<string, string>> {
  let length = 0
  return Object.fromEntries(
    Object.entries(headers).filter(([name, value]) => {
      length += name.length + value.length
      return length <= MAX && !SECRET.test(name) && name !== signature
    }),
  )
}
