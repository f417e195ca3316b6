import { useEffect, useState } from 'react'
import { Link, useSearch } from 'wouter'
import { createHref } from '../../../ui/links.ts'
import { useSession } from '../../../ui/session-context.ts'
import { Empty, Loading, Problem } from '../../../ui/states.tsx'
import { type Opened, openInstallation } from '../data.ts'
import { INSTALLATIONS } from './examples.ts'
import { InstallationEditor } from './installation-editor.tsx'

/** A new installation, or an existing one: `?from=` names it, `&copy=yes` copies it. */
export function InstallationForm() {
  const params = new URLSearchParams(useSearch())
  const from = params.get('from')
  if (from) return <OpenedForm key={`${from} ${params.get('copy')}`} id={from} copy={params.has('copy')} />
  const example = INSTALLATIONS.find(({ name }) => name === params.get('example'))
  return <InstallationEditor initial={example?.text ?? null} example={example?.name ?? null} opened={null} />
}

type State =
  | { readonly kind: 'reading' }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'open'; readonly opened: Opened | null }

function OpenedForm({ id, copy }: { readonly id: string; readonly copy: boolean }) {
  const { client } = useSession()
  const [state, setState] = useState<State>({ kind: 'reading' })
  const [times, setTimes] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: once more for each time
  useEffect(() => {
    const stop = new AbortController()
    setState({ kind: 'reading' })
    openInstallation(client, { id, copy }, stop.signal).then(
      (opened) => setState({ kind: 'open', opened }),
      (error) => stop.signal.aborted || setState({ kind: 'failed', message: String(error) }),
    )
    return () => stop.abort()
  }, [client, id, copy, times])
  const again = (): void => setTimes((now) => now + 1)
  if (state.kind === 'reading') return <Loading what="the installation" />
  if (state.kind === 'failed') return <Problem message={state.message} onRetry={again} />
  if (!state.opened)
    return (
      <Empty title={`There is no installation ${id}.`}>
        It was deleted, or your token does not let you see it. Start a{' '}
        <Link href={createHref('installation')}>new one</Link>.
      </Empty>
    )
  return <InstallationEditor initial={state.opened.text} example={null} opened={state.opened} onReopen={again} />
}
