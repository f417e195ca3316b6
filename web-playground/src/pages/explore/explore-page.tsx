import { useCallback, useEffect, useRef, useState } from 'react'
import { NEWEST_ID } from '../../data/documents-explore.ts'
import type { Session } from '../../data/session.ts'
import { LISTENING } from '../../graphiql/listening.ts'
import { type Example, filledIn } from '../../model/examples.ts'
import { useSession } from '../../ui/session-context.ts'
import { useTitle } from '../../ui/title.ts'
import { ExampleList } from './example-list.tsx'
import '../../styles/explore.css'

/** GraphiQL with example operations for each family. It is a page of its own, with a policy of its own. */
export default function ExplorePage() {
  useTitle('Explore')
  const session = useSession()
  const { frame, open, loaded } = useGraphiql()
  const [opened, setOpened] = useState('')
  const choose = async (example: Example): Promise<void> => {
    const id = example.needs ? await newestId(session, example.needs) : null
    open(filledIn(example, id))
    setOpened(`${example.title}: opened in a new tab of GraphiQL${example.needs && id === null ? NO_ID : '.'}`)
  }
  return (
    <div className="page fill explore">
      <div className="page-head">
        <h1>Explore</h1>
        <span className="quiet" role="status">
          {opened || (loaded ? 'Every query, mutation and subscription that there is.' : 'Loading GraphiQL…')}
        </span>
        <span className="row end">
          <a href="/docs/reference/queries">Reference</a> <a href="/graphiql">Open it alone</a>
        </span>
      </div>
      <div className="explore-body">
        <ExampleList onChoose={(example) => void choose(example)} />
        <iframe ref={frame} className="explore-frame" src="/graphiql" title="GraphiQL" />
      </div>
    </div>
  )
}
const NO_ID = '; put an id where it says "ID".'

async function newestId({ client }: Session, kind: string): Promise<string | null> {
  // The id is only a help: without it the example shows where an id belongs.
  const answer = await client.query(NEWEST_ID, { kind }).catch(() => null)
  return answer?.objects?.edges[0]?.node.id ?? null
}

/** Operations that are chosen before GraphiQL takes them are posted once it does. */
function useGraphiql() {
  const frame = useRef<HTMLIFrameElement>(null)
  const waiting = useRef<string[]>([])
  const [loaded, setLoaded] = useState(false)
  const post = useCallback((operation: string): void => {
    frame.current?.contentWindow?.postMessage({ operation }, location.origin)
  }, [])
  useEffect(() => {
    const onMessage = ({ origin, source, data }: MessageEvent<unknown>): void => {
      if (origin !== location.origin || source !== frame.current?.contentWindow || data !== LISTENING) return
      setLoaded(true)
      for (const operation of waiting.current.splice(0)) post(operation)
    }
    addEventListener('message', onMessage)
    return () => removeEventListener('message', onMessage)
  }, [post])
  const open = (operation: string): void => {
    if (loaded) post(operation)
    else waiting.current.push(operation)
  }
  return { frame, open, loaded }
}
