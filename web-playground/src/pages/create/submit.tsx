import type { Refusal } from 'phaseline/client-model'
import { RefusalNote } from './refusal-note.tsx'

interface Props {
  readonly label: string
  readonly busy: boolean
  /** The next required input; null: none. */
  readonly missing: string | null
  readonly refused: Refusal | null
  /** Fields that show the server's problems themselves. */
  readonly fields: readonly string[]
}

export function Submit({ label, busy, missing, refused, fields }: Props) {
  return (
    <div className="submit">
      <div className="row">
        <button type="submit" className="primary" disabled={busy || missing !== null}>
          {label}
        </button>
        <span role="status" className="quiet">
          {busy ? 'Asking the server…' : missing}
        </span>
      </div>
      <RefusalNote refused={refused} fields={fields} />
    </div>
  )
}
