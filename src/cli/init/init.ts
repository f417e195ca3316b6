import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { invalid, type Outcome, refused } from '../../client-model/index.ts'
import { codeOf } from '../../process/error-code.ts'
import { packagePath } from '../package-path.ts'

const TEMPLATE = 'examples/init'
/** The names in the template's files. */
const [NAME, TYPE] = ['my-agent', 'my-type']

export interface Project {
  /** The package's name. */
  readonly name: string
  readonly folder: string
  readonly files: readonly string[]
}

/** Writes a project with an agent, a manifest and a test into a new or empty folder. */
export async function initProject(folder: string, type: string): Promise<Outcome<Project>> {
  const name = basename(resolve(folder))
  if (!/^[a-z0-9][a-z0-9._-]*$/.test(name)) {
    return refused(invalid(`${name} cannot be the name of a package: use lower-case letters, digits and -.`))
  }
  if (!/^[\w.-]+$/.test(type)) return refused(invalid(`${type} is no type: use letters, digits, ., _ and -.`))
  const template = packagePath(TEMPLATE)
  try {
    await mkdir(folder, { recursive: true })
    const there = await readdir(folder)
    if (there.length > 0) return refused(invalid(`${folder} is not empty: name a new folder.`))
    const files = await readdir(template)
    for (const file of files) {
      const text = await readFile(join(template, file), 'utf8')
      await writeFile(join(folder, file), text.replaceAll(NAME, name).replaceAll(TYPE, type), { flag: 'wx' })
    }
    return { ok: true, value: { name, folder, files: files.toSorted() } }
  } catch (error) {
    return refused(invalid(`Cannot write to ${folder}: ${codeOf(error) ?? String(error)}.`))
  }
}
