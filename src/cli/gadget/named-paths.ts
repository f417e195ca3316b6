import { lstat } from 'node:fs/promises'

/**
 * The state of the files that the arguments name, as `path` or as `name=path`. Comparing two states shows whether a
 * call has changed, made or removed a file, but not what it has changed deep inside a folder.
 */
export async function lookAtNamedPaths(args: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const paths = args.map((argument) => argument.replace(/^[\w-]+=/, '')).filter((path) => path.includes('/'))
  const looks = paths.map(async (path) => [path, await lookAt(path)] as const)
  return new Map(await Promise.all(looks))
}

async function lookAt(path: string): Promise<string> {
  const stats = await lstat(path).catch(() => null)
  return stats ? `${stats.ino} ${stats.size} ${stats.mtimeMs}` : 'absent'
}

/** The first path whose state has changed. */
export function changedPath(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string | null {
  for (const [path, look] of after) if (before.get(path) !== look) return path
  return null
}
