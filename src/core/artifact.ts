/** Artifacts: files and folders that a worker or a job leaves, and that others take. */

const MIB = 1_024 * 1_024

/** Bytes of one artifact as it is stored; of a folder, compressed. */
export const MAX_ARTIFACT_BYTES = 64 * MIB

/** Bounds of a folder, when it is packed and when it is unpacked: a small archive may hold much. */
export const FOLDER_BOUNDS = { entries: 50_000, bytes: 1_024 * MIB, pathBytes: 1_024 } as const

/** Also the name of a downloaded file, so it is nothing else on any system. */
const NAME = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,62}$/
export const isArtifactName = (name: string): boolean => NAME.test(name)
export const ARTIFACT_NAME_RULE =
  'must begin with a letter, a digit or _, and have only letters, digits, ., _ and -, at most 63'

/** The content types of artifacts: a folder is a compressed archive, and a file is bytes, whatever is in it. */
export const FOLDER_TYPE = 'application/gzip'
export const FILE_TYPE = 'application/octet-stream'
export const mediaTypeOf = (isFolder: boolean): string => (isFolder ? FOLDER_TYPE : FILE_TYPE)
/** The name of its download. */
export const fileNameOf = ({ name, isFolder }: { readonly name: string; readonly isFolder: boolean }): string =>
  isFolder ? `${name}.tar.gz` : name

/** The header with which a runtime shows that the workload is its own. */
export const FENCE_HEADER = 'phaseline-fence'
