import { fieldsOf, type KubernetesObject } from '../../../../agents/kubernetes/objects.ts'
import { CURRENT, failed, inProgress, type ObjectStatus } from '../../../../agents/kubernetes/status.ts'
import { unsettled } from '../../../../agents/kubernetes/status-of.ts'
import type { ReadinessRule } from '../../../../core/deployers/kubernetes-manifest.ts'
import { beginningOf } from '../../../../core/portable.ts'
import { type Sandbox, SandboxBusy } from '../../../../sandbox/index.ts'
import { ruleProblems } from '../../../../sandbox/readiness.ts'
import { refuseProblems } from '../deploy-error.ts'
import type { Placed, Run } from './placed.ts'
import { selects } from './policies.ts'

/** The readiness rules of a config: expressions over an object as it is in the cluster, evaluated in a sandbox. */

const CODE = 'KUBERNETES_CONFIG'

/** @throws DeployError when an expression cannot be read, or speaks of something else than the object */
export const refuseRules = async ({ sandbox, config }: Run): Promise<void> =>
  refuseProblems(CODE, await ruleProblems(sandbox, [{ value: config, at: 'config' }]))

/** A rule with the name of an object waits for that one. @throws DeployError when there is none such */
export function refuseUnused({ config, namespace }: Run, placed: readonly Placed[]): void {
  const problems = (config.readiness ?? []).flatMap((rule, i) =>
    rule.name === undefined || placed.some(({ manifest }) => selects(rule, manifest, namespace))
      ? []
      : [{ path: `config.readiness.${i}`, message: `there is no ${rule.kind} ${rule.name} among the manifests` }],
  )
  refuseProblems(CODE, problems)
}

export const rulesOf = ({ config, namespace }: Run, { manifest }: Placed): readonly ReadinessRule[] =>
  config.readiness?.filter((rule) => selects(rule, manifest, namespace)) ?? []

/** The status of an object by its rules, which all have to be met. */
export async function statusByRules(
  { sandbox, item }: Run,
  object: KubernetesObject,
  rules: readonly ReadinessRule[],
): Promise<ObjectStatus> {
  const early = unsettled(object)
  if (early) return early
  const judge = new Judge(sandbox, item, object)
  const found: ObjectStatus[] = []
  for (const rule of rules) found.push(await judge.statusOf(rule))
  return found.find(({ is }) => is === 'FAILED') ?? found.find(({ is }) => is === 'IN_PROGRESS') ?? CURRENT
}

const MOST_TEXT = 200
const MOST_VALUES = 3

class Judge {
  readonly #sandbox: Sandbox
  readonly #item: string
  readonly #object: KubernetesObject

  constructor(sandbox: Sandbox, item: string, object: KubernetesObject) {
    this.#sandbox = sandbox
    this.#item = item
    this.#object = shown(object)
  }

  async statusOf(rule: ReadinessRule): Promise<ObjectStatus> {
    try {
      return await this.#judge(rule)
    } catch (error) {
      if (!(error instanceof SandboxBusy)) throw error
      return inProgress(`its rule ${cut(rule.ready)} takes long, and is evaluated again`)
    }
  }

  async #judge(rule: ReadinessRule): Promise<ObjectStatus> {
    const [ready, hasFailed, message] = await this.#evaluate([rule.ready, rule.failed ?? 'false', rule.message ?? '""'])
    // One that cannot be evaluated says nothing yet: most often there is no status.
    const said = message?.ok ? message.value : ''
    const why = said === '' ? '' : `: ${cut(typeof said === 'string' ? said : textOf(said))}`
    if (hasFailed?.ok && hasFailed.value === true)
      return failed(`its rule ${cut(rule.failed ?? '')} says so${why || (await this.#values(rule.failed ?? ''))}`)
    if (ready?.ok && ready.value === true) return CURRENT
    const about = `its rule ${cut(rule.ready)}`
    if (!ready?.ok) return inProgress(`${about} cannot be evaluated: ${ready?.message ?? ''}${why}`)
    const is =
      ready.value === false ? 'is not met' : `gives ${cut(textOf(ready.value))}, which is neither true nor false`
    return inProgress(`${about} ${is}${why || (await this.#values(rule.ready))}`)
  }

  #evaluate(sources: readonly string[]) {
    const scope = { object: this.#object }
    // A comment may end the expression.
    const jobs = sources.map((source) => ({ template: `\${${source}\n}`, scope }))
    return this.#sandbox.resolve(jobs, this.#item)
  }

  /** The values that an expression speaks of. */
  async #values(source: string): Promise<string> {
    const [read] = await this.#sandbox.analyze([source], 'object')
    const paths = read?.ok ? read.references.slice(0, MOST_VALUES) : []
    const values = paths.map((path) => `${path.join('.')} is ${cut(textOf(valueAt({ object: this.#object }, path)))}`)
    return values.length > 0 ? `: ${values.join(', ')}` : ''
  }
}

const valueAt = (from: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((found, key) => fieldsOf(found)[key], from)

const cut = (text: string): string => (text.length <= MOST_TEXT ? text : `${beginningOf(text, MOST_TEXT)}…`)
const textOf = (value: unknown): string => {
  if (value === undefined) return 'not there'
  if (Array.isArray(value)) return `a list of ${value.length}`
  return typeof value === 'object' && value !== null
    ? 'a map'
    : String(typeof value === 'string' ? `"${value}"` : value)
}

/** The object without what a message must not have: the values of a secret. */
function shown({ metadata, ...rest }: KubernetesObject & { readonly data?: unknown; readonly stringData?: unknown }) {
  const { managedFields: _fields, ...others } = metadata as KubernetesObject['metadata'] & { managedFields?: unknown }
  if (rest.kind !== 'Secret') return { ...rest, metadata: others }
  const { annotations = {} } = metadata
  const hidden = (values: unknown) => Object.fromEntries(Object.keys(fieldsOf(values)).map((key) => [key, HIDDEN]))
  return {
    ...rest,
    metadata: { ...others, annotations: hidden(annotations) as Readonly<Record<string, string>> },
    ...(rest.data === undefined ? {} : { data: hidden(rest.data) }),
  }
}
const HIDDEN = '***'
