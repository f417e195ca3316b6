import type { Located } from '../objects/address.ts'
import { follow } from '../objects/follow.ts'
import { type Outcome, REFUSAL_FRAGMENT } from '../objects/refusal.ts'
import type { LabelArgument } from '../options.ts'
import type { Session } from '../session.ts'
import { ask } from '../terminal/ask.ts'
import { EXIT, type ExitCode } from '../terminal/exit.ts'
import { plain } from '../terminal/text.ts'
import { type InstanceKind, TYPES } from './kinds.ts'
import { type EdgeAddress, locatePlace, placeOfCloudlet } from './locate.ts'
import { readSpec, type SpecOptions } from './spec.ts'

/** What changes cloudlets and instances: one mutation each. Deleting and cancelling are the same for all kinds. */

export interface WaitOptions {
  readonly wait?: boolean
}
export interface CreateOptions extends EdgeAddress, WaitOptions {
  readonly label?: readonly LabelArgument[]
  readonly key?: string
}
interface Written {
  readonly id: string
  readonly kind: string
  readonly name: string
  readonly phase: string
  readonly generation: number
  readonly upgradePhase?: string
  readonly operationId?: string
  readonly project: { readonly name: string }
  readonly root: { readonly id: string; readonly name: string }
  readonly parent: { readonly id: string; readonly name: string } | null
}

const mutation = (name: string): string =>
  `mutation Write($input: ${name.charAt(0).toUpperCase()}${name.slice(1)}Input!) {
  answer: ${name}(input: $input) { __typename ...Written ...Refusal }
}
fragment Written on TreeObject {
  id kind name phase generation project { name } root { id name } parent { id name }
  ... on Cloudlet { upgradePhase } ... on ClusterInst { operationId } ... on AppInst { operationId }
}
${REFUSAL_FRAGMENT}`

export async function createCloudlet(session: Session, text: string, options: CreateOptions): Promise<ExitCode> {
  const place = placeOfCloudlet(text, options)
  if (!place.ok) return session.refuse(place.refusal)
  const { name, parent: project } = place.value
  const input = { project, name, ...commonInput(options) }
  return await finish(session, await ask(session, mutation('createCloudlet'), input), created, options)
}

const PARENT_FIELDS = { CLUSTER_INST: 'cloudletId', APP_INST: 'clusterInstId' } as const

export async function createInstance(
  session: Session,
  kind: InstanceKind,
  text: string,
  options: CreateOptions & SpecOptions,
): Promise<ExitCode> {
  const spec = await readSpec(session.io, options)
  if (!spec.ok) return session.refuse(spec.refusal)
  const place = await locatePlace(session, text, kind, options)
  if (!place.ok) return session.refuse(place.refusal)
  const { name, parent } = place.value
  const input = { [PARENT_FIELDS[kind]]: parent.id, name, spec: spec.value, ...commonInput(options) }
  return await finish(session, await ask(session, mutation(`create${TYPES[kind]}`), input), created, options)
}

const commonInput = ({ label, key }: CreateOptions): object => ({
  ...(label === undefined ? {} : { labels: label }),
  ...(key === undefined ? {} : { idempotencyKey: key }),
})

export interface UpdateOptions extends SpecOptions, WaitOptions {
  readonly expectedGeneration?: number
}
/** What is as it is wanted is left alone by the server: then there is nothing to wait for. */
export async function updateInstance(
  session: Session,
  kind: InstanceKind,
  { id, generation: before }: Located,
  { expectedGeneration, wait, ...given }: UpdateOptions,
): Promise<ExitCode> {
  const spec = await readSpec(session.io, given)
  if (!spec.ok) return session.refuse(spec.refusal)
  const input = { id, spec: spec.value, ...(expectedGeneration === undefined ? {} : { expectedGeneration }) }
  const outcome = await ask<Written>(session, mutation(`update${TYPES[kind]}`), input)
  const isChanged = outcome.ok && outcome.value.generation !== before
  const tell = ({ phase, generation }: Written): string =>
    isChanged ? `asked to update, now ${phase} (generation ${generation})` : `unchanged (generation ${generation})`
  return await finish(session, outcome, tell, { wait: wait === true && isChanged })
}

export interface UpgradeOptions extends WaitOptions {
  readonly to: string
}
export async function upgradeCloudlet(
  session: Session,
  { id }: Located,
  { to: version, wait = false }: UpgradeOptions,
): Promise<ExitCode> {
  const outcome = await ask<Written>(session, mutation('upgradeCloudlet'), { id, version })
  const tell = ({ upgradePhase }: Written): string => `asked to upgrade to ${plain(version)}, now ${upgradePhase}`
  return await finish(session, outcome, tell, { wait })
}

export async function resolveUpgrade(session: Session, { id }: Located): Promise<ExitCode> {
  const outcome = await ask<Written>(session, mutation('resolveCloudletUpgrade'), { id })
  return await finish(session, outcome, ({ upgradePhase }) => `upgrade put right, now ${upgradePhase}`, {})
}

const created = ({ phase }: Written, { paint }: Session, id: string): string =>
  `created, now ${phase}  ${paint('dim', id)}`

async function finish(
  session: Session,
  outcome: Outcome<Written>,
  tell: (written: Written, session: Session, id: string) => string,
  { wait }: WaitOptions,
): Promise<ExitCode> {
  if (!outcome.ok) return session.refuse(outcome.refusal)
  const { value } = outcome
  const { id, root } = value
  session.emit(Object.fromEntries(Object.entries(value).filter(([field]) => field !== '__typename')))
  session.say(`${pathOf(value)} ${tell(value, session, id)}`)
  if (!wait) return EXIT.ok
  return await follow(session, root.id, (result) => result.outcome === 'succeeded', { focusId: id })
}

/** With its project: as every command takes it. */
export function pathOf({
  project,
  root,
  parent,
  name,
  id,
}: Pick<Written, 'project' | 'root' | 'parent' | 'name' | 'id'>) {
  const above = root.id === id ? [] : parent && parent.id !== root.id ? [root.name, parent.name] : [root.name]
  return plain([project.name, ...above, name].join('/'))
}
