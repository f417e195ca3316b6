/** Addresses and refs of Git repositories: the formats that specs may have. A setting of each runtime names the hosts that it asks. */

const PROTOCOLS = ['https:', 'http:', 'file:']

/**
 * Null: it is an address that a repository may have. Programs read a `\` in different ways: for some it ends the host, for others it is part
 * of what comes before an `@`.
 */
export function repositoryProblem(url: string): string | null {
  if (!/^[\x21-\x5b\x5d-\x7e]+$/.test(url) || !URL.canParse(url))
    return 'must be an address such as https://git.example.com/team/app.git'
  const { protocol, username, password, search, hash, hostname } = new URL(url)
  if (!PROTOCOLS.includes(protocol))
    return 'must begin with https:// (or http://, or file://, where the runtime permits it)'
  if (username || password) return 'must not hold credentials: name a secret of the project instead'
  if (search || hash) return 'must have no ? and no #'
  if (protocol === 'file:') return hostname ? 'must begin with file:/// and name no host' : null
  return hostname ? null : 'must name a host'
}

/** The address as it is judged, which Git gets: it reads others in its own way. */
export const canonicalAddress = (url: string): string => new URL(url).href

/** As `git check-ref-format` judges them, and never an option or a refspec. */
const WRONG = /^[-+/.]|\.\.|@\{|\/\/|\/\.|\.lock(\/|$)|[/.]$|[\s~^:?*[\\\p{Cc}]/u

/** Null: it can be the name of a branch or a tag, a full ref, or a commit. */
export function refProblem(ref: string): string | null {
  const isRef = ref !== '' && ref !== '@' && ref.isWellFormed() && !WRONG.test(ref)
  return isRef ? null : 'must be a branch, a tag, a ref such as refs/heads/main, or a whole commit'
}
