import type { Refusal } from '../errors.ts'
import type { ObjectRow } from '../tree.ts'

export type Outcome<T> = ({ readonly ok: true } & T) | { readonly ok: false; readonly refusal: Refusal }

/** What a command has written. */
export interface WrittenObject {
  readonly objectId: string
  /** Where the command knows all of it: it need not be read to be shown. */
  readonly object?: { readonly row: ObjectRow }
}
