import { type FieldProblem, invalidInput, type RefusalOf, type RefusalType } from '../../core/errors.ts'
import type { Outcome } from '../../core/ports/outcome.ts'
import type { Viewer } from '../../core/ports/viewer.ts'
import { Problems } from '../../core/problems.ts'
import { RIGHTS, requireRight } from '../../core/rights.ts'
import { refuse } from '../../families/access.ts'
import type { LockedProject } from '../../families/family.ts'
import {
  type CreateRecord,
  checkName,
  createRecord,
  deleteRecord,
  locateRecord,
  type UpdateRecord,
  updateRecord,
} from '../../families/project-records.ts'
import { checkExpressions, expressionsOf } from '../../families/template-expressions.ts'
import { isWebhookSecret, WEBHOOK_SECRET_RULE } from '../../standard-webhooks.ts'
import { removeDeliveries } from '../../store/hook-deliveries.ts'
import {
  loadRedeliveryToken,
  REDELIVERY_TOKEN,
  redeliverySecretPlace,
  removeRedeliveryToken,
} from '../../store/hook-redeliveries.ts'
import {
  type HookSecretRow,
  hookSecretPlace,
  keepHookSecrets,
  loadHookSecrets,
  writeHookSecret,
} from '../../store/hooks.ts'
import type { SecretPlace } from '../../store/sealing.ts'
import { formatOf } from '../rules/formats.ts'
import { type HookInput, normaliseHook } from '../rules/normalise-hook.ts'
import type { HookSpec } from '../rules/spec.ts'
import { HOOK, type Hook, type HookParts, rightOf, TRIGGER } from './parts.ts'

/** Hooks of a project. Their secrets are written, never read back, and in no error. */

type HookResult<T, Type extends RefusalType> = Outcome<T, RefusalOf<Type>>
interface Written {
  readonly objectId: string
}

export interface CreateHook extends HookInput, CreateRecord {}

export async function createHook(
  parts: HookParts,
  viewer: Viewer,
  input: CreateHook,
): Promise<HookResult<Written, 'InvalidInputError' | 'ConflictError' | 'LimitError' | 'ForbiddenError'>> {
  const problems = new Problems()
  checkName(input, problems)
  const spec = await readSpec(parts, input, input.name, problems)
  const missing = missingSecret(input, [])
  if (missing) problems.add(missing.path, missing.message)
  if (input.redelivery && !input.redelivery.token) problems.add(NO_TOKEN.path, NO_TOKEN.message)
  if (problems.found.length > 0) return refuse(invalidInput(problems.found))
  // The key's hash is no place for secrets.
  const { redelivery, secrets, ...plain } = input
  const asked = { ...plain, secrets: secrets?.map(({ name }) => name), redelivery: redelivery?.address }
  return await createRecord(parts, viewer, HOOK, { mutation: 'createHook', input: asked }, (project) =>
    mayRun(parts, viewer, project, settingsOf(parts, input, spec)),
  )
}

const settingsOf = (parts: HookParts, input: HookInput, spec: HookSpec, isTouched = true) => ({
  settings: { format: input.format, description: input.description ?? '', disabled: input.disabled ?? false, spec },
  isTouched,
  async also(project: LockedProject, { id }: { readonly id: string }) {
    await writeSecrets(parts, project, id, input)
    await writeToken(parts, project, id, input)
  },
})

async function readSpec(parts: HookParts, input: HookInput, name: string, problems: Problems): Promise<HookSpec> {
  const isSent = !input.signature && formatOf(input.format, name).signature === null
  const secretProblem = (value: string) => {
    if (input.format === 'STANDARD_WEBHOOKS') return isWebhookSecret(value) ? null : WEBHOOK_SECRET_RULE
    return isSent && !/^[ -~]*$/.test(value) ? 'must be ASCII, since its sender puts it into a header' : null
  }
  const spec = normaliseHook(input, name, secretProblem, problems)
  const isSealed = input.secrets?.some(({ value }) => typeof value === 'string') || input.redelivery?.token
  if (isSealed && !parts.sealing.canSeal)
    problems.add(
      'input.secrets',
      'cannot be sealed: set PHASELINE_SECRET_KEY to 32 random bytes in base64, and start the server again',
    )
  const { filter, event, deliveryId } = spec
  const given = Object.fromEntries(Object.entries(event).filter(([, value]) => value !== null))
  const named = expressionsOf(deliveryId ?? '', 'input.deliveryId', problems)
  if (deliveryId && named.length === 0)
    problems.add(
      'input.deliveryId',
      'holds no ${…}: every delivery after the first one would be taken for a repetition',
    )
  const expressions = [
    ...(filter === null ? [] : [{ source: filter, path: 'input.filter' }]),
    ...expressionsOf(given, 'input.event', problems),
    ...named,
  ]
  await checkExpressions(parts.sandbox, expressions, 'delivery', problems)
  const trigger = parts.triggers[TRIGGER]
  if (!trigger) problems.add('input', `needs a family with ${TRIGGER}, which this server does not have`)
  const { project: _, ...started } = given
  await trigger?.check({ ...formatOf(input.format, 'hook').event, ...started }, 'input.event', problems)
  return spec
}

/** A hook never does what its author may not do. */
function mayRun<T extends { readonly settings: { readonly spec: HookSpec } }>(
  { triggers }: HookParts,
  viewer: Viewer,
  { projectId }: LockedProject,
  hook: T,
): Outcome<T, RefusalOf<'ForbiddenError'>> {
  const trigger = triggers[TRIGGER]
  const right = trigger && rightOf(trigger, hook.settings.spec)
  const forbidden = right ? requireRight(viewer, right, projectId) : null
  return forbidden ? refuse(forbidden) : { ok: true, ...hook }
}

/** A secret that has never had a value; null: there is none, and the hook has secrets. */
function missingSecret({ secrets }: HookInput, there: readonly string[]): FieldProblem | null {
  if ((secrets ?? there).length === 0)
    return { path: 'input.secrets', message: 'must have one at least: without it anybody could post' }
  const i = (secrets ?? []).findIndex(({ name, value }) => typeof value !== 'string' && !there.includes(name))
  return i < 0 ? null : { path: `input.secrets.${i}.value`, message: 'is missing: there is no secret of this name yet' }
}

const NO_TOKEN = { path: 'input.redelivery.token', message: 'is missing: this address has none yet' }

async function writeToken(
  { sealing }: HookParts,
  { client, projectId, now }: LockedProject,
  id: string,
  { redelivery }: HookInput,
): Promise<void> {
  if (!redelivery) return await removeRedeliveryToken(client, id)
  if (!redelivery.token) return
  const sealed = sealing.seal(redeliverySecretPlace({ id, projectId }), redelivery.token)
  await writeHookSecret(client, id, { name: REDELIVERY_TOKEN, sealed, createdAt: now })
}

/** Writes those that have a value, and removes those that are not named. */
async function writeSecrets(
  { sealing }: HookParts,
  { client, projectId, now }: LockedProject,
  hookId: string,
  { secrets }: HookInput,
): Promise<void> {
  if (!secrets) return
  for (const { name, value } of secrets) {
    if (typeof value !== 'string') continue
    const sealed = sealing.seal(hookSecretPlace({ projectId, ownerId: hookId, name }), value)
    await writeHookSecret(client, hookId, { name, sealed, createdAt: now })
  }
  await keepHookSecrets(
    client,
    hookId,
    secrets.map(({ name }) => name),
  )
}

export interface UpdateHook extends HookInput, UpdateRecord {}

/** Secrets that are not given stay. */
export async function updateHook(
  parts: HookParts,
  viewer: Viewer,
  input: UpdateHook,
): Promise<HookResult<Written, 'InvalidInputError' | 'NotFoundError' | 'ConflictError' | 'ForbiddenError'>> {
  const located = await locateRecord(parts, viewer, HOOK, input.id)
  if (!located.ok) return located
  const problems = new Problems()
  const spec = await readSpec(parts, input, located.record.name, problems)
  if (problems.found.length > 0) return refuse(invalidInput(problems.found))
  type Judged = HookResult<ReturnType<typeof settingsOf>, 'InvalidInputError' | 'ForbiddenError'>
  return await updateRecord(parts, viewer, HOOK, input, async (project, before): Promise<Judged> => {
    const there = (await loadHookSecrets(project.client, [input.id])).get(input.id) ?? []
    const missing = missingSecret(
      input,
      // A secret of another format may be none of this one.
      before.format === input.format ? there.map(({ name }) => name) : [],
    )
    if (missing) return refuse(invalidInput([missing]))
    const address = spec.redelivery?.address
    // Nobody sends the token that is there to another address.
    if (address && !input.redelivery?.token && before.spec.redelivery?.address !== address)
      return refuse(invalidInput([NO_TOKEN]))
    const isTouched = await changesSecrets(parts, project, { ...input, there })
    return mayRun(parts, viewer, project, settingsOf(parts, input, spec, isTouched))
  })
}

/** True if a secret gets another value, or there are others than before, so that the same document again is no edit. */
async function changesSecrets(
  { sealing }: HookParts,
  { client, projectId }: LockedProject,
  { id, secrets, redelivery, there }: UpdateHook & { readonly there: readonly HookSecretRow[] },
): Promise<boolean> {
  const names = new Set(secrets?.map(({ name }) => name))
  if (secrets && (names.size !== there.length || there.some(({ name }) => !names.has(name)))) return true
  const known = new Map(there.map(({ name, sealed }) => [name, sealed]))
  const isOther = (place: SecretPlace, value: string, sealed: Uint8Array | null | undefined): boolean =>
    !sealed || sealing.open(place, sealed) !== value
  for (const { name, value } of secrets ?? [])
    if (typeof value === 'string' && isOther(hookSecretPlace({ projectId, ownerId: id, name }), value, known.get(name)))
      return true
  const token = redelivery?.token
  if (typeof token !== 'string') return false
  return isOther(redeliverySecretPlace({ id, projectId }), token, await loadRedeliveryToken(client, id))
}

/** Its deliveries go first, in steps, since one transaction with all of them would hold up the project. */
export async function deleteHook(
  parts: HookParts,
  viewer: Viewer,
  input: { readonly id: string },
): Promise<HookResult<{ readonly record: Hook }, 'InvalidInputError' | 'NotFoundError' | 'ForbiddenError'>> {
  const located = await locateRecord(parts, viewer, HOOK, input.id)
  if (!located.ok) return located
  const forbidden = requireRight(viewer, RIGHTS.deleteHook, located.record.projectId)
  if (forbidden) return refuse(forbidden)
  const upTo = parts.system.id()
  while (await removeDeliveries(parts.pool, input.id, upTo));
  return await deleteRecord(parts, viewer, HOOK, input)
}
