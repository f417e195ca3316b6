import { splitTimes } from 'phaseline/client-model'
import { shortDateTime } from './exact-time.ts'
import { useNow } from './now.ts'
import { Since, Until } from './phase.tsx'

/** A sentence of the server. Each time in it is the viewer's, with how far it is from now. */
export function Sentence({ text }: { readonly text: string }) {
  return splitTimes(text).map((part, i) => {
    // biome-ignore lint/suspicious/noArrayIndexKey: parts have no other name
    return i % 2 === 0 ? part : <Time key={i} at={part} />
  })
}

function Time({ at }: { readonly at: string }) {
  const now = useNow()
  const ms = Date.parse(at)
  if (Number.isNaN(ms)) return at
  return (
    <>
      {shortDateTime(ms)} (
      {ms > now ? (
        <Until at={at} />
      ) : (
        <>
          <Since at={at} /> ago
        </>
      )}
      )
    </>
  )
}
