import { sameJson } from '../core/json.ts'
import { DEFAULT_SETTINGS } from './installation.ts'
import { writeYaml } from './write-yaml.ts'

/** An installation as the API returns it; its spec has every default filled in. */
export interface ShownInstallation extends ShownSettings {
  readonly name: string
  readonly project: string
  readonly spec: unknown
}
type ShownSettings = Omit<typeof DEFAULT_SETTINGS, 'labels'> & {
  readonly labels: readonly { readonly key: string; readonly value: string }[]
}
type Fields = Readonly<Record<string, unknown>>

/** A manifest as a person would write it: without values that equal the defaults. */
export const writeManifest = ({ name, project, spec, ...settings }: ShownInstallation): string =>
  writeYaml({
    name,
    ...(project === 'default' ? {} : { project }),
    ...writtenSettings(settings),
    spec: writtenSpec(spec),
  })

/** The settings that differ from the defaults. */
export function writtenSettings(settings: ShownSettings): Fields {
  const labels = Object.fromEntries(settings.labels.map(({ key, value }) => [key, value]))
  const written: Fields = { ...settings, labels }
  const keys = Object.entries(DEFAULT_SETTINGS).flatMap(([key, plain]) => (sameJson(written[key], plain) ? [] : [key]))
  return Object.fromEntries(keys.map((key) => [key, written[key]]))
}

function writtenSpec(spec: unknown): Fields {
  const { imports, exports, installations, deployItems } = fieldsOf(spec)
  return {
    ...some('imports', listOf(imports).map(writtenImport)),
    ...some('exports', listOf(exports)),
    ...some(
      'installations',
      listOf(installations).map(({ name, spec: nested }) => ({ name, spec: writtenSpec(nested) })),
    ),
    ...some('deployItems', listOf(deployItems).map(writtenItem)),
  }
}

const writtenImport = ({ name, from, required, schema }: Fields): Fields => ({
  name,
  ...(from === name || from === undefined ? {} : { from }),
  ...(required === false ? { required } : {}),
  ...(schema === undefined ? {} : { schema }),
})
const writtenItem = ({ name, type, target, dependsOn, config, timeouts }: Fields): Fields => ({
  name,
  type,
  ...(typeof target === 'string' ? { target } : {}),
  ...some('dependsOn', Array.isArray(dependsOn) ? dependsOn : []),
  ...(config === null || config === undefined ? {} : { config }),
  ...(Object.keys(fieldsOf(timeouts)).length > 0 ? { timeouts } : {}),
})

const some = (key: string, list: readonly unknown[]): Fields => (list.length > 0 ? { [key]: list } : {})
const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
const listOf = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.map(fieldsOf) : [])
