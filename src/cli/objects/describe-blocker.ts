import { plain, words } from '../terminal/text.ts'

interface Blocker {
  readonly reason: string
  readonly message: string
}

/** Reasons that the object does not wait for, each with what its message is about. */
const OTHERS: Readonly<Partial<Record<string, string>>> = { NOT_IN_JOB: 'left out' }

/** The name of the field that has the blocker. */
export const blockerLabel = ({ reason }: Blocker): string => OTHERS[reason] ?? 'waits for'

/** e.g. `dependency: Depends on db, which is INIT.` */
export const blockerText = ({ reason, message }: Blocker): string =>
  reason in OTHERS ? plain(message) : `${words(reason)}: ${plain(message)}`

/** Both in one. */
export const describeBlocker = (blocker: Blocker): string =>
  blocker.reason in OTHERS ? blockerText(blocker) : `${blockerLabel(blocker)} ${blockerText(blocker)}`
