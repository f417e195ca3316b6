import { glob, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { invalid, type Outcome, refused } from '../../client-model/index.ts'

/** Maximum for one command. A pattern that matches a whole disk is a mistake. */
const MAX_FILES = 1_000
const MANIFEST = /\.(ya?ml|json)$/i
const PATTERN = /[*?[{]/

/**
 * The files that the arguments of `-f` stand for, in their order: a folder stands for the YAML and JSON files in it, a
 * pattern for the files that match it, both sorted by name. A file that exists is that file, whatever its name.
 */
export async function expandFiles(args: readonly string[]): Promise<Outcome<readonly string[]>> {
  const files: string[] = []
  const problems: string[] = []
  for (const arg of args) {
    const found = await expand(arg)
    if (typeof found === 'string') problems.push(found)
    else files.push(...found)
    if (files.length > MAX_FILES) return refused(invalid(`${arg}: these are more than ${MAX_FILES} files. Name fewer.`))
  }
  if (problems.length > 0) return refused(invalid(problems.join(' ')))
  return { ok: true, value: files }
}

/** The files, or the problem of the argument. The reader of a file reports why it cannot be read. */
async function expand(arg: string): Promise<readonly string[] | string> {
  if (arg === '-') return [arg]
  const found = await stat(arg).catch(() => null)
  if (found?.isDirectory()) {
    const names = (await readdir(arg)).filter((name) => MANIFEST.test(name))
    return names.length > 0 ? names.sort().map((name) => join(arg, name)) : `${arg} holds no .yaml, .yml or .json file.`
  }
  if (found || !PATTERN.test(arg)) return [arg]
  const matched: string[] = []
  for await (const file of glob(arg)) {
    matched.push(file)
    if (matched.length > MAX_FILES) break
  }
  return matched.length > 0 ? matched.sort() : `No file matches ${arg}.`
}
