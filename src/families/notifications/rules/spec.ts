import type { PhaseClass } from '../../../core/machine.ts'
import type { Labels } from '../../../core/place.ts'
import type { PhaseChangeRecord } from '../../../core/ports/phase-change.ts'
import type { ObjectKind, Phase } from '../../../core/vocabulary.ts'
import type { QuietHours } from '../../quiet-hours.ts'

/** Selects changes of the rule's project, or of those that it names. */
export interface RuleFilter {
  /** Names of projects, or `*` for all; absent: its own. Only administrators have such rules. */
  readonly projects?: readonly string[]
  /** Null in these three: any. */
  readonly kinds: readonly ObjectKind[] | null
  readonly to: readonly Phase[] | null
  readonly classes: readonly PhaseClass[] | null
  /** Absent in rules of before: any. */
  readonly reasons?: readonly string[] | null
  readonly rootsOnly: boolean
  /** Labels of the root; empty: any. */
  readonly labels: Labels
}

/** Forms of messages. EMAIL goes to addresses, the others to a URL. */
export const CHANNELS = ['WEBHOOK', 'CLOUDEVENTS', 'SLACK', 'EMAIL'] as const
export type Channel = (typeof CHANNELS)[number]
export interface Receiver {
  readonly channel: Channel
  /** Null: of e-mail, and of SLACK, whose URL is the secret. */
  readonly url: string | null
  /** Name of a secret of the project: the key that signs messages, or the URL of SLACK; null: none. */
  readonly secret: string | null
  /** Addresses; empty unless it is EMAIL. */
  readonly to: readonly string[]
}

export interface RuleSpec {
  /** Absent: each change has a message of its own. */
  readonly digest?: { readonly windowMs: number }
  /** Absent: messages go at any time. */
  readonly quietHours?: QuietHours
  /** Changes that lead to these classes wait for neither; absent: all do. */
  readonly urgent?: readonly PhaseClass[]
  readonly changes: RuleFilter
  readonly receiver: Receiver
  /** Text of the message, which may hold expressions; null: the default one. */
  readonly text: string | null
}

/** The content of a message. */
export type Told =
  | { readonly type: 'CHANGE'; readonly change: ToldChange }
  /** Changes of a window, in the order of the log, and their number with those that had no room. */
  | {
      readonly type: 'DIGEST'
      readonly changes: readonly ToldChange[]
      readonly count: number
      readonly lastSequence: number
    }
  /** Somebody tries the rule. */
  | { readonly type: 'TEST'; readonly by: string }
  /** Changes that were pruned before the rule has seen them. */
  | { readonly type: 'GAP'; readonly after: number; readonly upTo: number }

export type ToldChange = Pick<
  PhaseChangeRecord,
  | 'sequence'
  | 'objectId'
  | 'rootId'
  | 'parentPath'
  | 'projectName'
  | 'kind'
  | 'name'
  | 'from'
  | 'to'
  | 'actor'
  | 'by'
  | 'reason'
  | 'message'
> & { readonly at: string; readonly phaseClass: PhaseClass | null }

export const STATES = ['PENDING', 'DELIVERED', 'FAILED'] as const
export type State = (typeof STATES)[number]
