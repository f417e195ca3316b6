import { writeYaml } from './write-yaml.ts'

/** An installation as the API returns it; its spec has every default filled in. */
export interface ShownInstallation {
  readonly name: string
  readonly project: string
  readonly labels: readonly { readonly key: string; readonly value: string }[]
  readonly ignored: boolean
  readonly spec: unknown
}
type Fields = Readonly<Record<string, unknown>>

/** A manifest as a person would write it: without values that equal the defaults. */
export function writeManifest({ name, project, labels, ignored, spec }: ShownInstallation): string {
  const manifest = {
    name,
    ...(project === 'default' ? {} : { project }),
    ...(labels.length > 0 ? { labels: Object.fromEntries(labels.map(({ key, value }) => [key, value])) } : {}),
    ...(ignored ? { ignored } : {}),
    spec: writtenSpec(spec),
  }
  return writeYaml(manifest)
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
