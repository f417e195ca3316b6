import markUrl from '../mark.svg'

/** Shown before the first answer. */
export function Waiting({ problem }: { readonly problem: string | null }) {
  return (
    <main className="center" aria-busy="true">
      <img src={markUrl} alt="" width="48" height="48" />
      <p role="status">
        {problem ? `The server does not answer (${problem}). Trying again…` : 'Connecting to the server…'}
      </p>
    </main>
  )
}
