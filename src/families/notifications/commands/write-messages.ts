import type { Pool, PoolClient } from 'pg'
import type { Machine } from '../../../core/machine.ts'
import { CursorExpired, type Log, type LogCursor, type ResolvedCursor } from '../../../core/ports/log.ts'
import type { PhaseChangeQuery, PhaseChangeRecord } from '../../../core/ports/phase-change.ts'
import type { System } from '../../../core/ports/system.ts'
import { inTransaction } from '../../../store/in-transaction.ts'
import { readMark } from '../../../store/log-mark.ts'
import { grantsOfEditors } from '../../on-behalf.ts'
import { collect, isUrgent, waitsUntil } from '../rules/collect.ts'
import { classifier, hasLabels, matchesRule, toldOf } from '../rules/match.ts'
import { mayTell } from '../rules/may-tell.ts'
import type { ToldChange } from '../rules/spec.ts'
import {
  countPending,
  type EnabledRule,
  enabledRules,
  fallBehind,
  insertMessages,
  labelsOfRoots,
  lockCursor,
  lockRules,
  lookAtLog,
  MAX_PENDING,
  messageId,
  moveCursor,
  type NewMessage,
  ROOM_BELOW,
} from '../store/notifications.ts'
import { extendDigest, openDigests, urgeMessages } from '../store/waits.ts'

/** Most changes of one step, and most messages: each has some KiB. */
const STEP = 1_000
const STEP_MESSAGES = 2_000
const LEAST = 20
/** Rules that are behind and are read for in one step. */
const BEHIND_AT_ONCE = 4
const ALL: PhaseChangeQuery = { projects: null, includeRejected: false }

export interface MatcherParts {
  readonly pool: Pool
  readonly log: Pick<Log, 'resolve' | 'next' | 'end'>
  readonly system: Pick<System, 'now' | 'id'>
  readonly machines: readonly Machine[]
}
/** `more`: there may be more to do at once. `done`: nothing. `none`: no rule is enabled. */
export type MatchStep = 'more' | 'done' | 'none'

/**
 * Writes the messages of the next changes, and moves the position in the log, in one transaction: so each matching change
 * has its message, whatever dies. One process at a time does this.
 */
export async function writeMessages(parts: MatcherParts): Promise<MatchStep> {
  // Without a lock, which would be a write: an idle server rests.
  const { isAny, isMoved, isBehind, sequence } = await lookAtLog(parts.pool)
  if (!isAny && sequence === null) return 'none'
  const moved = isMoved || !isAny ? await inStep(parts, (step) => step.advance()) : 'done'
  if (!isBehind || moved === 'none') return moved
  // In a transaction of its own, as each locks its rules in the order of their ids.
  const caughtUp = await inStep(parts, (step) => step.catchUp())
  return moved === 'more' ? 'more' : caughtUp
}

const inStep = (parts: MatcherParts, run: (step: Step) => Promise<boolean>): Promise<MatchStep> =>
  inTransaction(parts.pool, async (client) => {
    const cursor = await lockCursor(client)
    if (!cursor) return 'done'
    const rules = await enabledRules(client)
    if (rules.length === 0) {
      await moveCursor(client, null)
      return 'none'
    }
    const at = await frontOf(client, cursor, rules)
    const { head } = cursor
    const step = new Step(parts, client, { rules, permitted: await permitted(client, rules), front: at, head })
    return (await run(step)) ? 'more' : 'done'
  })

/** The first look begins at the oldest rule. */
async function frontOf(
  client: PoolClient,
  { sequence, mark }: { readonly sequence: number | null; readonly mark: string | null },
  rules: readonly EnabledRule[],
): Promise<LogCursor> {
  if (sequence !== null) return { sequence, mark }
  const first = Math.min(...rules.map(({ afterSequence }) => afterSequence))
  return { sequence: first, mark: await readMark(client, first) }
}

/** The rules that are not held, and whose last editor may still read the changes of the project. */
async function permitted(client: PoolClient, rules: readonly EnabledRule[]): Promise<ReadonlySet<string>> {
  const grants = await grantsOfEditors(client, rules)
  const may = (rule: EnabledRule, i: number): boolean => !rule.isHeld && mayTell(rule, grants[i] ?? [])
  return new Set(rules.filter(may).map(({ id }) => id))
}

/** The key of rules that tell changes of several projects, beside the ids of projects. */
const SEVERAL = 'several'
const projectOf = ({ projectId, spec }: EnabledRule): string => (spec.changes.projects ? SEVERAL : projectId)

/** Each change may match all rules of its project, and those of several. */
function stepOf(rules: readonly EnabledRule[]): number {
  const { [SEVERAL]: several = [], ...own } = Object.groupBy(rules, projectOf)
  const most = several.length + Math.max(0, ...Object.values(own).map((of) => of?.length ?? 0))
  return Math.max(LEAST, Math.min(STEP, Math.floor(STEP_MESSAGES / Math.max(1, most))))
}

interface Gap {
  readonly after: number
  readonly upTo: number
}

interface Matched {
  readonly rule: EnabledRule
  /** The id of the message, if the change has one of its own. */
  readonly id: string
  readonly told: ToldChange
  readonly isUrgent: boolean
}

interface StepState {
  readonly rules: readonly EnabledRule[]
  readonly permitted: ReadonlySet<string>
  /** The position of the rules that are not behind. */
  readonly front: LogCursor
  /** The end of the log before the rules were read: a rule that was enabled since then tells what comes after it. */
  readonly head: number
}

class Step {
  readonly #parts: MatcherParts
  readonly #client: PoolClient
  readonly #state: StepState
  readonly #classOf: ReturnType<typeof classifier>

  constructor(parts: MatcherParts, client: PoolClient, state: StepState) {
    this.#parts = parts
    this.#client = client
    this.#state = state
    this.#classOf = classifier(parts.machines)
  }

  /** Moves the rules that are not behind. A rule without room for its messages stays where it is: it falls behind. */
  async advance(): Promise<boolean> {
    const { rules: all, front, head } = this.#state
    // Nothing is written for a rule that is not permitted, and its position moves on.
    const rules = all.filter(({ behindSequence }) => behindSequence === null)
    if (rules.length === 0) return false
    const { at, gap } = await this.#locate(front)
    const batch = await this.#parts.log.next(ALL, at, stepOf(rules))
    if (!batch && !gap && at.sequence === front.sequence) return false
    const changes = batch?.changes.filter(({ sequence }) => sequence <= head) ?? []
    const full = await this.#insert(rules, await this.#match(rules, changes), gap)
    await fallBehind(this.#client, full, front)
    await moveCursor(this.#client, batch ? await this.#upTo(head, at, batch.through) : at)
    return true
  }

  /** Moves rules that are behind, up to the others and no further. One that is not permitted waits there. */
  async catchUp(): Promise<boolean> {
    const { rules: all, front, permitted } = this.#state
    const rules = all.filter(({ id, behindSequence }) => behindSequence !== null && permitted.has(id))
    const pending = await countPending(
      this.#client,
      rules.map(({ id }) => id),
    )
    const ready = rules.filter(({ id }) => (pending.get(id) ?? 0) < ROOM_BELOW).slice(0, BEHIND_AT_ONCE)
    await lockRules(
      this.#client,
      ready.map(({ id }) => id),
    )
    let isMoved = false
    for (const rule of ready) {
      const { at, gap } = await this.#locate({ sequence: rule.behindSequence ?? 0, mark: rule.behindMark })
      const { kinds, projects } = rule.spec.changes
      const query = { ...ALL, projects: projects ? null : [rule.projectId], ...(kinds && { kinds }) }
      const batch = at.sequence < front.sequence ? await this.#parts.log.next(query, at, STEP) : null
      const changes = batch?.changes.filter(({ sequence }) => sequence <= front.sequence) ?? []
      const full = await this.#insert([rule], await this.#match([rule], changes), gap)
      // This process may know less of the log than the one that has moved the others.
      const through = batch?.through ?? at
      if (full.length > 0 || (through.sequence === rule.behindSequence && through.sequence < front.sequence)) continue
      await fallBehind(this.#client, [rule.id], through.sequence < front.sequence ? through : null)
      isMoved = true
    }
    return isMoved
  }

  /** The position of a batch, or of the head if that comes first. */
  async #upTo(head: number, at: LogCursor, through: LogCursor): Promise<LogCursor> {
    if (through.sequence <= head) return through
    return head > at.sequence ? { sequence: head, mark: await readMark(this.#client, head) } : at
  }

  /** A position that is not in the log is one that was pruned, or that another history of the log had. */
  async #locate(cursor: LogCursor): Promise<{ readonly at: ResolvedCursor; readonly gap: Gap | null }> {
    const { log } = this.#parts
    try {
      return { at: await log.resolve(cursor), gap: null }
    } catch (error) {
      if (!(error instanceof CursorExpired)) throw error
    }
    const floor = await log.end('floor')
    const isPruned = cursor.sequence < floor.sequence
    const at = await log.resolve(isPruned ? floor : await log.end('common'))
    return { at, gap: isPruned ? { after: cursor.sequence, upTo: floor.sequence } : null }
  }

  /** In the order of the log. */
  async #match(rules: readonly EnabledRule[], changes: readonly PhaseChangeRecord[]): Promise<readonly Matched[]> {
    const byProject = Map.groupBy(
      rules.filter(({ id }) => this.#state.permitted.has(id)).map((rule) => ({ ...rule, changes: rule.spec.changes })),
      projectOf,
    )
    const several = byProject.get(SEVERAL) ?? []
    const found = changes.flatMap((change) => {
      const candidates = [...(byProject.get(change.projectId ?? '') ?? []), ...several]
      if (candidates.length === 0) return []
      const phaseClass = this.#classOf(change)
      return candidates
        .filter((rule) => matchesRule(rule, change, phaseClass))
        .map((rule) => ({ rule, change, phaseClass }))
    })
    const choosy = found.filter(({ rule }) => Object.keys(rule.changes.labels).length > 0)
    const labels = await labelsOfRoots(
      this.#client,
      choosy.map(({ change }) => change.rootId),
    )
    return found
      .filter(({ rule, change }) => hasLabels(labels.get(change.rootId) ?? {}, rule.changes.labels))
      .map(({ rule, change, phaseClass }) => {
        const told = toldOf(change, phaseClass)
        return { rule, id: messageId(rule.id, change), told, isUrgent: isUrgent(rule.spec, told) }
      })
  }

  /** Returns the rules that have no room: none of their messages is written. */
  async #insert(
    rules: readonly EnabledRule[],
    matched: readonly Matched[],
    gap: Gap | null,
  ): Promise<readonly string[]> {
    const { system } = this.#parts
    const client = this.#client
    const now = system.now()
    const gaps = rules.flatMap(({ id: ruleId, afterSequence }) => {
      if (!gap || gap.upTo <= afterSequence || !this.#state.permitted.has(ruleId)) return []
      const id = system.id()
      const told = { type: 'GAP' as const, after: Math.max(gap.after, afterSequence), upTo: gap.upTo }
      return [{ id, ruleId, subjectId: id, told, notBefore: null }]
    })
    const collecting = matched.filter(({ rule }) => rule.spec.digest)
    const single = matched
      .filter(({ rule }) => !rule.spec.digest)
      .map(({ rule, id, told, isUrgent: goes }) => ({
        ...{ id, ruleId: rule.id, subjectId: told.objectId, told: { type: 'CHANGE' as const, change: told } },
        ...{ notBefore: goes ? null : this.#waitsUntil(rule, now), isUrgent: goes },
      }))
    const messages = [...gaps, ...single]
    if (messages.length + collecting.length === 0) return []
    const counts = Map.groupBy(messages, ({ ruleId }) => ruleId)
    const there = await lockRules(client, [...counts.keys(), ...collecting.map(({ rule }) => rule.id)])
    const pending = await countPending(client, [...there])
    // A digest is one message, however many changes it tells.
    const full = [...there].filter((id) => (pending.get(id) ?? 0) + (counts.get(id)?.length ?? 1) > MAX_PENDING)
    const hasRoom = (ruleId: string): boolean => there.has(ruleId) && !full.includes(ruleId)
    await insertMessages(
      client,
      messages.filter(({ ruleId }) => hasRoom(ruleId)),
      now,
    )
    await this.#collect(
      collecting.filter(({ rule }) => hasRoom(rule.id)),
      now,
    )
    const urgent = single.filter((message) => message.isUrgent && hasRoom(message.ruleId))
    await urgeMessages(client, urgent, now)
    return full
  }

  readonly #quiet = new Map<string, Date | null>()
  #waitsUntil({ id, spec }: EnabledRule, now: Date): Date | null {
    const known = this.#quiet.get(id)
    if (known !== undefined) return known
    const found = waitsUntil(spec, now)
    this.#quiet.set(id, found)
    return found
  }

  /** Adds changes to the digests of their rules that are open, or opens some. An urgent change sends its digest at once. */
  async #collect(matched: readonly Matched[], now: Date): Promise<void> {
    const client = this.#client
    const byRule = Map.groupBy(matched, ({ rule }) => rule.id)
    const open = await openDigests(client, [...byRule.keys()], now)
    const fresh: NewMessage[] = []
    const urgent: { readonly ruleId: string; readonly subjectId: string }[] = []
    for (const [ruleId, some] of byRule) {
      const changes = some.map(({ told }) => told)
      const spec = some[0]?.rule.spec
      const found = open.get(ruleId)
      if (found) await extendDigest(client, found.id, collect(found.told, changes))
      else {
        const end = new Date(now.getTime() + (spec?.digest?.windowMs ?? 0))
        const told = collect({ type: 'DIGEST', changes: [], count: 0, lastSequence: 0 }, changes)
        const notBefore = (spec && waitsUntil(spec, end)) ?? end
        // The subject is the rule, so that its digests are sent one after the other.
        fresh.push({ id: this.#parts.system.id(), ruleId, subjectId: ruleId, told, notBefore })
      }
      if (some.some((one) => one.isUrgent)) urgent.push({ ruleId, subjectId: ruleId })
    }
    await insertMessages(client, fresh, now)
    await urgeMessages(client, urgent, now)
  }
}
