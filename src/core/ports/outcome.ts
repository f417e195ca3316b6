import type { Refusal } from '../errors.ts'
import type { ObjectRow } from '../tree.ts'

export type Outcome<T> = ({ readonly ok: true } & T) | { readonly ok: false; readonly refusal: Refusal }

/** An object that a command has written. */
export interface WrittenObject {
  readonly objectId: string
  /** Present when the command knows the whole row, so that showing it needs no read. */
  readonly object?: { readonly row: ObjectRow }
}
