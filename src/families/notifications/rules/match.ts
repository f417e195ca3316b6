import type { Machine, PhaseClass } from '../../../core/machine.ts'
import type { Labels } from '../../../core/place.ts'
import { beginningOf, portableText } from '../../../core/portable.ts'
import type { PhaseChangeRecord } from '../../../core/ports/phase-change.ts'
import type { RuleFilter, ToldChange } from './spec.ts'

/** Longest text of a change in a message, in characters. */
const MAX_TEXT = 2_000

export interface MatchedRule {
  readonly projectId: string
  /** Changes up to here are not its. */
  readonly afterSequence: number
  readonly changes: RuleFilter
}

/** Finds the class of the phase that a change leads to. */
export function classifier(machines: readonly Machine[]): (change: PhaseChangeRecord) => PhaseClass | null {
  const byName = new Map(machines.map((machine) => [machine.name, machine]))
  return ({ machine, to }) => byName.get(machine)?.classes.get(to) ?? null
}

/** The changes of its project, or of those that it names. */
const isOfProjects = ({ projectId, changes: { projects } }: MatchedRule, change: PhaseChangeRecord): boolean =>
  projects
    ? projects.includes('*') || (change.projectName !== null && projects.includes(change.projectName))
    : change.projectId === projectId

/** Apart from labels, which the log does not have. */
export const matchesRule = (
  rule: MatchedRule,
  change: PhaseChangeRecord,
  phaseClass: PhaseClass | null,
  { afterSequence, changes } = rule,
): boolean =>
  isOfProjects(rule, change) &&
  change.sequence > afterSequence &&
  (!changes.reasons || (change.reason !== null && changes.reasons.includes(change.reason))) &&
  (!changes.rootsOnly || change.parentId === null) &&
  (changes.kinds === null || changes.kinds.includes(change.kind)) &&
  (changes.to === null || (leads(change) && changes.to.includes(change.to))) &&
  (changes.classes === null || (leads(change) && phaseClass !== null && changes.classes.includes(phaseClass)))

/** A request, a takeover or a deed of a schedule leaves the phase as it is. */
const leads = ({ from, to, revision }: PhaseChangeRecord): boolean => from !== to || revision !== null

export const hasLabels = (labels: Labels, wanted: Labels): boolean =>
  Object.entries(wanted).every(([key, value]) => labels[key] === value)

export const toldOf = (change: PhaseChangeRecord, phaseClass: PhaseClass | null): ToldChange => {
  const { sequence, objectId, rootId, parentPath, projectName, kind, name, from, to, actor, by, reason, message, at } =
    change
  return {
    ...{ sequence, objectId, rootId, parentPath, projectName, kind, name, from, to, actor, by },
    ...{ reason: shorten(reason), message: shorten(message) },
    ...{ at: at.toISOString(), phaseClass },
  }
}

const shorten = (text: string | null): string | null => text && portableText(beginningOf(text, MAX_TEXT))
