import { sameJson } from '../core/json.ts'
import { DEFAULT_SETTINGS } from './installation.ts'
import { mapOf } from './pairs.ts'
import { withoutEmpty, writeYaml } from './write-yaml.ts'

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
export const writeManifest = ({ project, ...installation }: ShownInstallation): string => {
  const { name, ...rest } = writtenManifest(installation)
  return writeYaml({ name, ...(project === 'default' ? {} : { project }), ...rest })
}

/** The same as a document among those of other kinds. */
export const writtenDocument = ({ project, ...installation }: ShownInstallation): Fields => {
  const { name, ...rest } = writtenManifest(installation)
  return { kind: 'Installation', name, project, ...rest }
}

const writtenManifest = ({ name, spec, ...settings }: Omit<ShownInstallation, 'project'>): Fields => ({
  name,
  ...writtenSettings(settings),
  spec: writtenSpec(spec),
})

/** The settings that differ from the defaults. */
export function writtenSettings(settings: ShownSettings): Fields {
  const labels = mapOf(settings.labels)
  const written: Fields = { ...settings, labels }
  const keys = Object.entries(DEFAULT_SETTINGS).flatMap(([key, plain]) => (sameJson(written[key], plain) ? [] : [key]))
  return Object.fromEntries(keys.map((key) => [key, written[key]]))
}

/**
 * Fields that this version does not know are written as they are: `apply` refuses them then, and loses none.
 * @param around the target of the installation around it, which is not repeated
 */
export function writtenSpec(spec: unknown, around: Fields = {}): Fields {
  const { imports, exports, installations, deployItems, automaticReconcile, target, targetSelector, ...unknown } =
    fieldsOf(spec)
  const own = { target, targetSelector }
  return {
    ...writtenTarget(own, around),
    ...some('imports', listOf(imports).map(writtenImport)),
    ...some('exports', listOf(exports)),
    ...some(
      'installations',
      listOf(installations).map(({ name, spec: nested }) => ({ name, spec: writtenSpec(nested, own) })),
    ),
    ...some(
      'deployItems',
      listOf(deployItems).map((item) => writtenItem(item, own)),
    ),
    ...writtenAutomatic(automaticReconcile),
    ...withoutEmpty(unknown),
  }
}

const writtenImport = ({ name, from, required, schema, value, ...unknown }: Fields): Fields => ({
  name,
  ...(from === name || from === undefined ? {} : { from }),
  // A default means the same.
  ...(required === false && fieldsOf(schema).default === undefined ? { required } : {}),
  ...(schema === undefined ? {} : { schema }),
  ...(value === undefined ? {} : { value }),
  ...withoutEmpty(unknown),
})
function writtenTarget({ target, targetSelector }: Fields, around: Fields): Fields {
  if (typeof target === 'string') return target === around.target ? {} : { target }
  if (!targetSelector || sameJson(targetSelector, around.targetSelector)) return {}
  const { type, labels } = fieldsOf(targetSelector)
  const pairs = Object.fromEntries(listOf(labels).map(({ key, value }) => [key, value]))
  return {
    targetSelector: {
      ...(typeof type === 'string' ? { type } : {}),
      ...(Object.keys(pairs).length > 0 ? { labels: pairs } : {}),
    },
  }
}

const writtenItem = (
  { name, type, dependsOn, forEach, config, timeouts, retry, limits, target, targetSelector, ...unknown }: Fields,
  around: Fields,
): Fields => ({
  name,
  type,
  ...writtenTarget({ target, targetSelector }, around),
  ...some('dependsOn', Array.isArray(dependsOn) ? dependsOn : []),
  ...(forEach === null || forEach === undefined ? {} : { forEach }),
  ...(config === null || config === undefined ? {} : { config }),
  ...(Object.keys(fieldsOf(timeouts)).length > 0 ? { timeouts } : {}),
  ...writtenRetry(retry),
  ...some('limits', Array.isArray(limits) ? limits.map(withoutDefaults) : []),
  ...withoutEmpty(unknown),
})

const withoutDefaults = ({ limit, key, priority }: Fields): Fields => ({
  limit,
  ...withoutEmpty({ key: key || null, priority: priority || null }),
})

/** Without what is empty. The delays are written whole, so that other defaults of a later version change none of them. */
export function writtenRetry(retry: unknown): Fields {
  const { attempts, backoff, on, not, attemptTimeoutMs } = fieldsOf(retry)
  if (attempts === undefined) return {}
  const codes = { ...some('on', Array.isArray(on) ? on : []), ...some('not', Array.isArray(not) ? not : []) }
  const timeout = typeof attemptTimeoutMs === 'number' ? { attemptTimeoutMs } : {}
  return { retry: { attempts, ...(backoff ? { backoff } : {}), ...codes, ...timeout } }
}

function writtenAutomatic(automatic: unknown): Fields {
  const written = Object.entries(fieldsOf(automatic)).flatMap(([key, times]) => {
    if (times === null) return []
    const { attempts, intervalMs, cron, timeZone } = fieldsOf(times)
    const zone = timeZone === 'UTC' || intervalMs !== null ? {} : { timeZone }
    const when = { ...(intervalMs === null ? {} : { intervalMs }), ...some('cron', Array.isArray(cron) ? cron : []) }
    return [[key, { ...(typeof attempts === 'number' ? { attempts } : {}), ...when, ...zone }] as const]
  })
  return written.length > 0 ? { automaticReconcile: Object.fromEntries(written) } : {}
}

const some = (key: string, list: readonly unknown[]): Fields => (list.length > 0 ? { [key]: list } : {})
const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
const listOf = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.map(fieldsOf) : [])
