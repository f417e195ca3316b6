import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import {
  commentOf,
  type Imported,
  type Left,
  parseAll,
  parseMaps,
  readText,
  withoutStop,
} from '../../../../cli/import/import-command.ts'
import { type Fields, ImportProblem, isMap, mapOf, nameFrom, textOf } from '../../../../cli/import/loose-values.ts'
import { readBeside } from '../../../../cli/manifests/read-beside.ts'
import type { Io } from '../../../../cli/terminal/io.ts'
import { writeYaml } from '../../../../manifest/index.ts'
import { type Blueprint, importInstallation, type World } from './landscaper-installation.ts'

const YAML_FILE = /\.ya?ml$/i
/** More than any repository of blueprints has. */
const MAX_FILES = 2_000

/**
 * Reads what Landscaper has in a cluster, as files, and writes installations. Blueprints stand in their installations, or in a
 * folder. @throws ImportProblem
 */
export async function importLandscaper(
  io: Io,
  paths: readonly string[],
  blueprints: readonly string[] = [],
): Promise<Imported> {
  const documents: Fields[] = []
  for (const path of paths)
    for (const file of await filesOf(path)) documents.push(...parseMaps(await readText(file, io), 'YAML of objects'))
  const ofKind = (kind: string) => documents.filter((one) => one.kind === kind && isMap(one.metadata))
  const installations = ofKind('Installation').filter(({ apiVersion }) => textOf(apiVersion).startsWith('landscaper.'))
  if (installations.length === 0) throw new ImportProblem('it has no installation of Landscaper')

  const folders = blueprints.map((given) => /^(?:([^=]*)=)?(.+)$/s.exec(given)?.slice(1) ?? [])
  const world: World = {
    async blueprintOf(reference) {
      const { ref, inline, filesystem } = mapOf(reference)
      const files = mapOf(mapOf(inline).filesystem ?? filesystem)
      if (Object.keys(files).length > 0) return inlined(files)
      const names = textOf(isMap(ref) ? ref.resourceName : ref).split('/')
      const [, folder] =
        folders.find(([name]) => name !== undefined && names.includes(name)) ??
        (isMap(ref) ? folders.find(([name]) => name === undefined) : undefined) ??
        []
      return folder === undefined ? null : inFolder(io, folder)
    },
    componentOf(reference) {
      const { inline, ref } = mapOf(reference)
      const { componentName } = mapOf(ref)
      return mapOf(
        inline ??
          documents.find(({ component }) => componentName !== undefined && mapOf(component).name === componentName),
      )
    },
  }
  const left: Left[] = [...dataOf(ofKind), ...targetsOf(ofKind('Target'))].map((what) => ({ part: null, what }))
  const texts: string[] = []
  for (const one of installations) {
    const name = textOf(mapOf(one.metadata).name)
    const imported = await importInstallation(mapOf(one.spec), world)
    left.push(...imported.left.map((what) => ({ part: name, what })))
    const head = { path: [], text: commentOf([...imported.left, ...imported.unread]) }
    texts.push(writeYaml({ name: nameFrom(name), spec: imported.spec }, [head]))
  }
  const about = left.filter(({ part }) => part === null).map(({ what }) => what)
  const comment = about.length > 0 ? `#${commentOf(about).replaceAll('\n', '\n#')}\n` : ''
  return { yaml: comment + texts.join('---\n'), left }
}

async function filesOf(path: string): Promise<readonly string[]> {
  const found = await lstat(path).catch(() => null)
  if (!found?.isDirectory()) return [path]
  const entries = await readdir(path, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile() && YAML_FILE.test(entry.name))
  if (files.length > MAX_FILES)
    throw new ImportProblem(`the folder has more than ${MAX_FILES} files: name those that matter`)
  return files.map(({ parentPath, name }) => join(parentPath, name)).sort()
}

/** Files of a blueprint stand in the installation as texts, and folders as maps. */
function inlined(filesystem: Fields): Blueprint {
  const at = (path: string): unknown =>
    path
      .split('/')
      .filter((part) => part !== '')
      .reduce<unknown>((inner, part) => mapOf(inner)[part], filesystem)
  const file = async (path: string): Promise<string> => {
    const text = at(path)
    if (typeof text === 'string') return text
    throw new ImportProblem(`the blueprint has no file ${path}`)
  }
  return { file }
}

const inFolder = (io: Io, folder: string): Blueprint => ({
  async file(path) {
    const read = await readBeside(folder, path.replace(/^\/+/, ''), io.stdin)
    if (read.ok) return read.text
    throw new ImportProblem(withoutStop(read.message))
  },
})

/** Data that installations import: a user sets it once. Values of secrets are not shown. */
function dataOf(ofKind: (kind: string) => readonly Fields[]): readonly string[] {
  const set = (name: string, value: string) => `set the data: phaseline data set ${nameFrom(name)} ${value}`
  const quoted = (value: unknown) => `'${JSON.stringify(value).replaceAll("'", String.raw`'\''`)}'`
  const nameOf = ({ metadata }: Fields) => textOf(mapOf(metadata).name)
  return [
    ...ofKind('DataObject').map((one) => set(nameOf(one), quoted(one.data ?? null))),
    ...ofKind('ConfigMap').flatMap((one) =>
      Object.entries(mapOf(one.data)).map(([key, text]) => set(`${nameOf(one)}-${key}`, quoted(dataFrom(text)))),
    ),
    ...ofKind('Secret').flatMap((one) =>
      Object.keys({ ...mapOf(one.data), ...mapOf(one.stringData) }).map((key) =>
        set(`${nameOf(one)}-${key}`, '-f FILE'),
      ),
    ),
  ]
}

/** Landscaper reads texts of config maps as YAML. */
function dataFrom(text: unknown): unknown {
  try {
    const [value = null, ...others] = parseAll(textOf(text))
    return others.length === 0 ? value : text
  } catch {
    return text
  }
}

const targetsOf = (targets: readonly Fields[]): readonly string[] =>
  targets.map(({ metadata }) => {
    const name = textOf(mapOf(metadata).name)
    return `add the target: phaseline target import ${nameFrom(name)} --kubeconfig FILE`
  })
