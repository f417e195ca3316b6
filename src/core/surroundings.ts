/** Describes a problem of a program's environment, in one sentence that says what to do. Pure. */

/** The known fields of system errors. */
interface SystemError extends Error {
  readonly code?: unknown
  readonly syscall?: unknown
  readonly path?: unknown
  readonly address?: unknown
  readonly port?: unknown
  readonly hostname?: unknown
}

/** Libraries wrap errors, each in its own way. */
const DEEPEST = 5

/** Null: the error says nothing of the surroundings, so it is a defect. */
export function problemOfSurroundings(error: unknown, depth = 0): string | null {
  if (!(error instanceof Error) || depth > DEEPEST) return null
  const { code, cause, errors } = error as SystemError & { readonly errors?: unknown }
  const known = typeof code === 'string' ? sentenceOf(code, error) : null
  // A name with several addresses fails with one error for each.
  const [first] = Array.isArray(errors) ? errors : []
  return known ?? problemOfSurroundings(first ?? cause, depth + 1)
}

const CERTIFICATE =
  /^(CERT_|ERR_TLS_CERT|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_(VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT))/

function sentenceOf(code: string, error: SystemError): string | null {
  if (CERTIFICATE.test(code))
    return `The certificate of the other side is not trusted (${error.message}): renew it, use the name that it is for, or name the file of its authority with NODE_EXTRA_CA_CERTS.`
  return Object.hasOwn(SENTENCES, code) ? (SENTENCES[code]?.(error) ?? null) : null
}

const fileOf = ({ path }: SystemError): string => (typeof path === 'string' ? path : 'a file')
const placeOf = ({ address, port, hostname, path }: SystemError): string => {
  if (typeof address === 'string' && port !== undefined)
    return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`
  return String(address ?? hostname ?? path ?? 'the other side')
}
const cannotReach = (error: SystemError): string =>
  `${placeOf(error)} cannot be reached (${error.code}): check the address, the network and what filters it.`
const notFound = (error: SystemError): string =>
  `The name ${placeOf(error)} is not found: check how it is written, and the name server.`
const tooManyFiles = (): string =>
  'Too many files and connections are open: raise the limit of open files (ulimit -n, or LimitNOFILE of systemd).'
const notAllowed = (error: SystemError): string =>
  error.syscall === 'listen'
    ? `This user may not listen at ${placeOf(error)}: choose a port from 1024 on, or grant the capability CAP_NET_BIND_SERVICE.`
    : `This user may not ${error.syscall ?? 'use'} ${fileOf(error)}: change its owner or its mode, or name another one.`
const noSpace = (error: SystemError): string =>
  `There is no space left for ${fileOf(error)}: free some, or name another folder.`

const SENTENCES: Readonly<Record<string, (error: SystemError) => string>> = {
  ECONNREFUSED: (error) => `Nothing listens at ${placeOf(error)}: start it, or check the address.`,
  ECONNRESET: (error) => `${placeOf(error)} has ended the connection: read its log, and try again.`,
  ENOTFOUND: notFound,
  EAI_AGAIN: notFound,
  ETIMEDOUT: cannotReach,
  EHOSTUNREACH: cannotReach,
  ENETUNREACH: cannotReach,
  EADDRINUSE: (error) =>
    `Another process listens at ${placeOf(error)}: end it, or choose another port (--port or PORT, PHASELINE_ADMIN_PORT).`,
  EADDRNOTAVAIL: (error) => `This machine has no address ${placeOf(error)}: choose one that it has (--host or HOST).`,
  EACCES: notAllowed,
  EPERM: notAllowed,
  EROFS: (error) =>
    `${fileOf(error)} is on a file system without writing: mount it for writing, or name another folder.`,
  ENOSPC: noSpace,
  EDQUOT: noSpace,
  ENOENT: (error) => `${fileOf(error)} or its folder does not exist: check how it is written.`,
  ENOTDIR: (error) => `${fileOf(error)} leads through a file that is no folder: name another one.`,
  EIO: (error) => `${fileOf(error)} cannot be read or written: check the disk and the log of the system.`,
  EMFILE: tooManyFiles,
  ENFILE: tooManyFiles,
}
