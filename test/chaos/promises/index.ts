import type { Evidence } from '../evidence.ts'
import { closed, currentOnly, exclusive, nothingLeft, output, slots, startedOnce } from './agents.ts'
import { begun, delivered, fired, retried, told } from './automation.ts'
import { bounded, lined, opened, overridden } from './flow.ts'
import { dense, ended, found, legal, ordered, readers, recorded } from './log.ts'
import { edge, journalled, locks, undone } from './operations.ts'
import type { Promised } from './reading.ts'
import { exported, forward, heldBack, inTurn, oneJob, runs, together } from './trees.ts'
import { audited, kept, once, punctual, rights, settings, specs } from './users.ts'

/** The promises of the product, each with the check that finds its violations. docs/reliability.md has the same list. */
export const PROMISES = {
  'the log is dense': dense,
  'every change is in its machine': legal,
  'a tree’s changes are in their order': ordered,
  'a change is found by its object': found,
  'what was accepted is kept': kept,
  'a creation that is repeated is one': once,
  'an accepted spec stays': specs,
  'what was done is in the audit': audited,
  'rights are those last given': rights,
  'secrets and data are those last set': settings,
  'readers miss and repeat nothing': readers,
  'everything comes to its end': ended,
  'nothing is late': punctual,
  'tables and log agree': recorded,
  'an object stays in its tree': together,
  'work begins in its turn': inTurn,
  'a paused tree begins nothing': heldBack,
  'a tree has one job at a time': oneJob,
  'generations only grow': forward,
  'each job of a root is a run': runs,
  'exports stay, and are followed': exported,
  'no two agents do the same work': exclusive,
  'only who has the work reports it': currentOnly,
  'finished work is closed': closed,
  'no two jobs in conflict run together': locks,
  'an undo comes before another run': undone,
  'the journal tells of each run': journalled,
  'a workload is started once': startedOnce,
  'no output is lost': output,
  'capacity is kept': slots,
  'nothing is left behind': nothingLeft,
  'sites and records agree': edge,
  'each time of a schedule fires once': fired,
  'each firing and each delivery is one event': begun,
  'what a hook has accepted is kept': delivered,
  'rules tell each of their changes': told,
  'attempts are within their policy': retried,
  'no more hold a limit than it allows': bounded,
  'limits are given in their order': lined,
  'an override holds for its time': overridden,
  'a gate opens by those who may open it': opened,
} as const satisfies Readonly<Record<string, Promised>>
export type PromiseName = keyof typeof PROMISES

/** The violations of each promise; promises that were kept are not in it. */
export const violations = (evidence: Evidence): Readonly<Partial<Record<PromiseName, readonly string[]>>> =>
  Object.fromEntries(
    Object.entries(PROMISES)
      .map(([name, check]) => [name, check(evidence)] as const)
      .filter(([, found]) => found.length > 0),
  )
