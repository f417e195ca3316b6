import type { PendingRequest, Row } from '../model/object.ts'
import { zonedTime } from './exact-time.ts'

/** Pending requests of an object, e.g. `delete requested`. */
export function Pending({ requests }: { readonly requests: readonly PendingRequest[] }) {
  return requests.map((request) => (
    <span key={request.verb} className="pending is-waiting" title={titleOf(request)}>
      {request.verb} requested
    </span>
  ))
}

/** `paused`, with who, since when and why. */
export function Paused({ pause }: { readonly pause: Row['pause'] | undefined }) {
  if (!pause) return null
  const { by, at, reason } = pause
  return (
    <span className="pending" title={`by ${by}, ${zonedTime(at)}${reason === null ? '' : `: ${reason}`}`}>
      ‖ paused
    </span>
  )
}

function titleOf({ mode, by, at, message }: PendingRequest): string {
  const who = [mode === null || mode === 'STANDARD' ? null : mode, by === null ? null : `by ${by}`, at && zonedTime(at)]
  return [who.filter(Boolean).join(', '), message].filter(Boolean).join(': ')
}
