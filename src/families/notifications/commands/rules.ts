import { invalidInput, notFound, type RefusalOf, type RefusalType } from '../../../core/errors.ts'
import type { Log } from '../../../core/ports/log.ts'
import type { CommonRefusal, Outcome } from '../../../core/ports/outcome.ts'
import type { System } from '../../../core/ports/system.ts'
import type { Viewer } from '../../../core/ports/viewer.ts'
import { Problems } from '../../../core/problems.ts'
import { requireRight } from '../../../core/rights.ts'
import type { Sandbox } from '../../../sandbox/index.ts'
import type { Client } from '../../../store/client.ts'
import { refuse } from '../../access.ts'
import { bindCommands, command } from '../../command.ts'
import type { FamilyParts } from '../../define-family.ts'
import type { LockedProject } from '../../family.ts'
import {
  type CreateRecord,
  checkName,
  createRecord,
  deleteRecord,
  onRecord,
  type RecordKind,
  type RecordParts,
  type UpdateRecord,
  updateRecord,
  type WantedRecord,
} from '../../project-records.ts'
import { checkExpressions, expressionsOf } from '../../template-expressions.ts'
import { rights } from '../rights.ts'
import { waitsUntil } from '../rules/collect.ts'
import { rightOf } from '../rules/may-tell.ts'
import { normaliseRule, type RuleInput } from '../rules/normalise-rule.ts'
import type { RuleSpec, Told } from '../rules/spec.ts'
import { insertMessages, loadMessage, lockRules, type MessageRow, replayMessage } from '../store/notifications.ts'
import { RULES, type RuleRow } from '../store/rules.ts'
import { holdMessages } from '../store/waits.ts'

export interface NotificationParts extends RecordParts {
  readonly sandbox: Sandbox
  readonly system: System
  readonly log: Pick<Log, 'caughtUp'>
}
type Result<T, Type extends RefusalType> = Outcome<T, RefusalOf<Type | CommonRefusal>>
interface Written {
  readonly objectId: string
}

type RuleSettings = Pick<RuleRow, 'description' | 'spec' | 'isEnabled'>
export const RULE: RecordKind<RuleRow, RuleSettings> = {
  noun: 'rule',
  // Every change is compared with each.
  max: 100,
  rights,
  records: RULES,
}

export interface WriteRule extends RuleInput {
  readonly description?: string | null
  /** Left out or null: true. */
  readonly enabled?: boolean | null
}

export interface CreateRule extends WriteRule, CreateRecord {}
export async function createNotificationRule(
  parts: NotificationParts,
  viewer: Viewer,
  input: CreateRule,
): Promise<Result<Written, 'InvalidInputError' | 'ConflictError' | 'LimitError'>> {
  const problems = new Problems()
  checkName(input, problems)
  const spec = await readSpec(parts, input, problems)
  if (problems.found.length > 0) return refuse(invalidInput(problems.found))
  const request = { mutation: 'createNotificationRule', input }
  await catchUp(parts, input)
  return await createRecord(parts, viewer, RULE, request, (project) => wanted(viewer, project, input, spec))
}

/** Gives all that was committed before their numbers: a rule that is enabled tells those that come after. */
async function catchUp({ log }: NotificationParts, { enabled }: WriteRule): Promise<void> {
  if (enabled ?? true) await log.caughtUp()
}

function wanted(
  viewer: Viewer,
  { projectId }: LockedProject,
  { description, enabled }: WriteRule,
  spec: RuleSpec,
): Outcome<WantedRecord<RuleSettings>, RefusalOf<'ForbiddenError'>> {
  const forbidden = requireRight(viewer, rightOf(spec), projectId)
  if (forbidden) return refuse(forbidden)
  return {
    ok: true,
    settings: { description: description ?? '', spec, isEnabled: enabled ?? true },
    // Shorter quiet hours hold for what waits, too.
    async also({ client, now }, { id }) {
      await lockRules(client, [id])
      await holdMessages(client, id, now, waitsUntil(spec, now))
    },
  }
}

async function readSpec(parts: NotificationParts, input: RuleInput, problems: Problems): Promise<RuleSpec> {
  const spec = normaliseRule(input, problems)
  if (problems.found.length === 0)
    await checkExpressions(parts.sandbox, expressionsOf(spec.text, 'input.text', problems), 'notification', problems)
  return spec
}

export interface UpdateRule extends WriteRule, UpdateRecord {}
export async function updateNotificationRule(
  parts: NotificationParts,
  viewer: Viewer,
  input: UpdateRule,
): Promise<Result<Written, 'InvalidInputError' | 'NotFoundError' | 'ConflictError'>> {
  const problems = new Problems()
  const spec = await readSpec(parts, input, problems)
  if (problems.found.length > 0) return refuse(invalidInput(problems.found))
  await catchUp(parts, input)
  return await updateRecord(parts, viewer, RULE, input, (project) => wanted(viewer, project, input, spec))
}

interface Named {
  readonly id: string
}
export const deleteNotificationRule = (
  parts: NotificationParts,
  viewer: Viewer,
  input: Named,
): Promise<Result<{ readonly record: RuleRow }, 'NotFoundError'>> => deleteRecord(parts, viewer, RULE, input)

interface Sent {
  readonly message: MessageRow
}
/** Sends a message that tells nothing, to see whether it arrives. */
export const testNotificationRule = (
  parts: NotificationParts,
  viewer: Viewer,
  input: Named,
): Promise<Result<Sent, 'NotFoundError' | 'ConflictError'>> =>
  onRecord(
    parts,
    viewer,
    RULE,
    { id: input.id, right: rights.send },
    async ({ client, now }, rule): Promise<Result<Sent, 'ConflictError'>> => {
      if (!rule.isEnabled) return refuse(disabled(rule))
      const id = parts.system.id()
      const told: Told = { type: 'TEST', by: viewer.name }
      await lockRules(client, [rule.id])
      await insertMessages(client, [{ id, ruleId: rule.id, subjectId: id, told, notBefore: null }], now)
      return await sent(client, id)
    },
  )

const conflict = (code: RefusalOf<'ConflictError'>['code'], message: string): RefusalOf<'ConflictError'> => ({
  ...{ type: 'ConflictError', code, message, objectId: null },
})
const disabled = ({ name }: RuleRow) =>
  conflict('NOT_READY', `The rule ${name} is disabled, so it sends nothing: enable it first.`)

async function sent(client: Client, id: string): Promise<{ ok: true } & Sent> {
  const message = await loadMessage(client, id)
  if (!message) throw new Error(`the message ${id} is not there`)
  return { ok: true, message }
}

/** Sends a message again that has ended. */
export async function replayNotification(
  parts: NotificationParts,
  viewer: Viewer,
  { id }: Named,
): Promise<Result<Sent, 'NotFoundError' | 'ConflictError'>> {
  const located = await loadMessage(parts.pool, id)
  if (!located) return refuse(notFound(id, 'notification'))
  const work = async ({ client, now }: LockedProject, rule: RuleRow): Promise<Result<Sent, 'ConflictError'>> => {
    if (!rule.isEnabled) return refuse(disabled(rule))
    await lockRules(client, [rule.id])
    if (await replayMessage(client, id, now)) return await sent(client, id)
    return refuse(conflict('BUSY', 'It is still being sent.'))
  }
  const done = await onRecord(parts, viewer, RULE, { id: located.ruleId, right: rights.send }, work)
  return !done.ok && done.refusal.type === 'NotFoundError' ? refuse(notFound(id, 'notification')) : done
}

export const notificationCommands = {
  createNotificationRule: command(createNotificationRule, ['ConflictError', 'LimitError']),
  updateNotificationRule: command(updateNotificationRule, ['NotFoundError', 'ConflictError']),
  deleteNotificationRule: command(deleteNotificationRule, ['NotFoundError']),
  testNotificationRule: command(testNotificationRule, ['NotFoundError', 'ConflictError']),
  replayNotification: command(replayNotification, ['NotFoundError', 'ConflictError']),
}
export type NotificationCommands = ReturnType<typeof bindNotifications>
export const bindNotifications = ({ pool, log, trees, sandbox, system }: FamilyParts) =>
  bindCommands({ trees, sandbox, system, pool, log }, notificationCommands)
