import { basename, dirname, resolve } from 'node:path'
import {
  commentOf,
  type Imported,
  type Left,
  parseMaps,
  readText,
  withoutStop,
} from '../../../../cli/import/import-command.ts'
import {
  escaped,
  type Fields,
  ImportProblem,
  isMap,
  listOf,
  mapOf,
  mapTexts,
  nameFrom,
  some,
  textOf,
} from '../../../../cli/import/loose-values.ts'
import { readBeside } from '../../../../cli/manifests/read-beside.ts'
import type { Io } from '../../../../cli/terminal/io.ts'
import { CONTAINER } from '../../../../core/deployers/container.ts'
import { isName, NAME_RULE } from '../../../../core/problems.ts'
import { writeYaml, type YamlComment } from '../../../../manifest/index.ts'
import { type ComposeContext, importService } from './compose-service.ts'
import { interpolate, type Lookup, readEnvFile } from './interpolate.ts'

/** Files in a manifest are part of the spec. */
const MAX_FILE = 65_536
/** Top-level settings that are read, or change nothing. */
const KNOWN = new Set(['name', 'version', 'services', 'volumes', 'networks', 'configs', 'secrets'])

/** Reads a Compose file, and the files that it names, and writes an installation. @throws ImportProblem */
export async function importCompose(io: Io, file: string, given: string | undefined): Promise<Imported> {
  // Standard input names files of the current folder.
  const folder = file === '-' ? '.' : dirname(file)
  return await read(io, { text: await readText(file, io), folder, given })
}

interface Source {
  readonly text: string
  readonly folder: string
  /** The name of the installation. */
  readonly given: string | undefined
}

async function read(io: Io, { text, folder, given }: Source): Promise<Imported> {
  const beside = (path: string) => readBeside(folder, path, io.stdin)
  const outer: Lookup = (name) => io.env[name]
  const dotEnv = await beside('.env')
  const variables = dotEnv.ok ? readEnvFile(dotEnv.text, outer) : new Map<string, string>()
  const env: Lookup = (name) => outer(name) ?? variables.get(name)
  const unset = new Set<string>()
  const file = mapOf(mapTexts(documentOf(text), (one) => interpolate(one, env, (name) => unset.add(name))))
  const services = Object.entries(mapOf(file.services))
  if (services.length === 0 || !services.every(([, service]) => isMap(service)))
    throw new ImportProblem('it has no services')

  const name = given ?? nameFrom(textOf(file.name) || basename(resolve(folder)))
  if (!isName(name)) throw new ImportProblem(`--name ${withoutStop(NAME_RULE)}`)
  const started = services.filter(([, service]) => listOf(mapOf(service).profiles).length === 0)
  const names = new Map(started.map(([service]) => [service, nameFrom(service)]))
  if (new Set(names.values()).size < names.size)
    throw new ImportProblem('two of its services have names that are too much alike')
  const context: ComposeContext = {
    ...{ app: name, env, volumes: mapOf(file.volumes), networks: mapOf(file.networks) },
    ...{ configs: mapOf(file.configs), secrets: mapOf(file.secrets) },
    itemName: (service) => names.get(service),
    runsToEnd: (service) => started.some(([, other]) => waitsForEnd(mapOf(other), service)),
    async file(path) {
      const found = await beside(path)
      if (!found.ok) return { why: withoutStop(found.message) }
      return found.text.length > MAX_FILE ? { why: 'it is larger than 64 KiB' } : { text: found.text }
    },
    async envFile(path) {
      const found = await beside(path)
      return found.ok ? readEnvFile(found.text, env) : null
    },
  }
  const left: Left[] = [
    ...Object.keys(file).flatMap((key) => (KNOWN.has(key) || key.startsWith('x-') ? [] : `${key} is left out`)),
    ...[...unset].map((variable) => `the variable ${variable} is not set: it is empty`),
    ...services.flatMap(([service]) =>
      names.has(service) ? [] : `the service ${service} is left out: it has a profile`,
    ),
  ].map((what) => ({ part: null, what }))
  const comments: YamlComment[] = [{ path: [], text: commentOf(left.map(({ what }) => what)) }]
  const deployItems: Fields[] = []
  for (const [service, fields] of started) {
    const imported = await importService(service, mapOf(fields), context)
    const { config, dependsOn } = imported
    comments.push({ path: ['spec', 'deployItems', deployItems.length], text: commentOf(imported.left) })
    left.push(...imported.left.map((what) => ({ part: service, what })))
    const item = { name: names.get(service), type: CONTAINER, ...some('dependsOn', dependsOn), config }
    deployItems.push(escaped(item) as Fields)
  }
  if (deployItems.length === 0) throw new ImportProblem('all of its services have profiles, so nothing of it runs')
  return { yaml: writeYaml({ name, spec: { deployItems } }, comments), left }
}

function documentOf(text: string): Fields {
  const [file, ...more] = parseMaps(text, 'Compose file')
  if (file && more.length === 0) return file
  throw new ImportProblem('it is no Compose file')
}

const waitsForEnd = ({ depends_on: given }: Fields, service: string): boolean =>
  mapOf(mapOf(given)[service]).condition === 'service_completed_successfully'
