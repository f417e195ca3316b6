import { type LabelInput, labelsOf } from '../../../core/labels.ts'
import type { Problems } from '../../../core/problems.ts'
import { PHASES, type Phase } from '../../../core/vocabulary.ts'
import { checkText, checkWord } from '../../../projects/rules/names.ts'
import { worker as machine } from '../machines.ts'
import type { EventDetails } from './details.ts'

/** Converts API input about events, and filters of events. */

export interface EventInput {
  readonly source: string
  readonly type: string
  readonly qualifiers?: readonly LabelInput[] | null
  readonly labels?: readonly LabelInput[] | null
  readonly payload?: string | null
}
/** All that an event is created with. */
export interface NewEvent extends EventDetails {
  readonly labels: Readonly<Record<string, string>>
}
/** The data that its sender gives. */
export type EventSpec = Omit<NewEvent, 'subscribed' | 'retryOf' | 'cloneOf' | 'hops'>

export function normaliseEvent(input: EventInput, problems: Problems): EventSpec {
  const { source, type, payload = null } = input
  checkWord(source, 'input.source', problems)
  checkWord(type, 'input.type', problems)
  if (type === '*') problems.add('input.type', 'must be a type: * stands for all of them in subscriptions only')
  if (payload !== null) checkText(payload, 'input.payload', problems)
  return {
    source,
    type,
    payload,
    qualifiers: labelsOf(input.qualifiers ?? [], problems, 'input.qualifiers'),
    labels: labelsOf(input.labels ?? [], problems),
  }
}

/** Project and phases are required, so that an incomplete filter does not delete everything. */
export interface EventFilterInput {
  readonly project: string
  readonly phases: readonly Phase[]
  readonly source?: string | null
  readonly type?: string | null
  readonly qualifiers?: readonly LabelInput[] | null
  readonly labels?: readonly LabelInput[] | null
}
export interface EventFilter {
  readonly phases: readonly Phase[]
  readonly source: string | null
  readonly type: string | null
  /** Exactly these; null: any. */
  readonly qualifiers: Readonly<Record<string, string>> | null
  /** All of these have to match. */
  readonly labels: Readonly<Record<string, string>>
}

/** `running`: refuses final phases, whose events cannot be cancelled. */
export function normaliseFilter(
  input: EventFilterInput,
  problems: Problems,
  { running }: { readonly running: boolean },
): EventFilter {
  const { phases, source = null, type = null } = input
  if (phases.length === 0) problems.add('input.phases', 'must not be empty')
  for (const [i, phase] of phases.entries()) {
    if (!isPhase(phase)) problems.add(`input.phases.${i}`, `${phase} is not a phase of events`)
    else if (running && machine.final.includes(phase)) problems.add(`input.phases.${i}`, `${phase} is final`)
  }
  if (source !== null) checkWord(source, 'input.source', problems)
  if (type !== null) checkWord(type, 'input.type', problems)
  return {
    phases: [...new Set(phases)],
    source,
    type,
    qualifiers: input.qualifiers ? labelsOf(input.qualifiers, problems, 'input.qualifiers') : null,
    labels: labelsOf(input.labels ?? [], problems),
  }
}
const isPhase = (phase: string): boolean => PHASES.some((known) => known === phase && machine.phases.includes(known))
