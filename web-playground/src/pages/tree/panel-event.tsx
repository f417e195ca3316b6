import { useEffect, useState } from 'react'
import { Link } from 'wouter'
import type { Details } from '../../data/details-store.ts'
import { EVENT_PAYLOAD } from '../../data/documents.ts'
import { ScrollingText } from '../../ui/scrolling-text.tsx'
import { useSession } from '../../ui/session-context.ts'
import { useObjectHref } from './use-object-href.ts'

/** An event as its source sent it: the part that its worker uses. */
export function PanelEvent({ details }: { readonly details: Details }) {
  const href = useObjectHref()
  const payload = usePayload(details.id, details.kind === 'EVENT')
  const { source, eventType, qualifiers, retryOf, cloneOf } = details
  if (source === undefined || eventType === undefined) return null
  const pairs = (qualifiers ?? []).map(({ key, value }) => `${key}=${value}`).join(', ')
  return (
    <section aria-label="Event">
      <h3>Event</h3>
      <dl>
        <dt>Source</dt>
        <dd>{source}</dd>
        <dt>Type</dt>
        <dd>{eventType}</dd>
        {pairs !== '' && (
          <>
            <dt>Qualifiers</dt>
            <dd>{pairs}</dd>
          </>
        )}
        {[retryOf && (['Retry of', retryOf] as const), cloneOf && (['Copy of', cloneOf] as const)].map(
          (other) =>
            other && (
              <div key={other[0]} className="row">
                <dt>{other[0]}</dt>
                <dd>
                  <Link href={href(other[1].root.id, other[1].id)}>{other[1].name}</Link>
                </dd>
              </div>
            ),
        )}
      </dl>
      <h3>Payload</h3>
      {payload === null ? (
        <p className="quiet">None was given.</p>
      ) : (
        <ScrollingText>{payload && readable(payload)}</ScrollingText>
      )}
    </section>
  )
}

/** Read once: a payload is large and never changes. Undefined: not read yet. */
function usePayload(id: string, isEvent: boolean): string | null | undefined {
  const { client } = useSession()
  const [payload, setPayload] = useState<string | null>()
  useEffect(() => {
    const stop = new AbortController()
    setPayload(undefined)
    if (!isEvent) return
    client.query(EVENT_PAYLOAD, { id }, { signal: stop.signal }).then(
      ({ object }) => setPayload(object?.payload ?? null),
      () => undefined,
    )
    return () => stop.abort()
  }, [client, id, isEvent])
  return payload
}

/** JSON is indented; any other text is shown as it is. */
function readable(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
