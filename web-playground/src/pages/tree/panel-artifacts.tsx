import { nodesOf, sizeOf } from 'phaseline/client-model'
import { useState } from 'react'
import { Link } from 'wouter'
import type { Details } from '../../data/details-store.ts'
import type { NodeOf } from '../../data/gql.ts'
import { messageOf } from '../../data/live-read.ts'
import { Since, Until } from '../../ui/phase.tsx'
import { saveBlob } from '../../ui/save-text.ts'
import { useSession } from '../../ui/session-context.ts'
import { useObjectHref } from './use-object-href.ts'

type Artifact = NodeOf<NonNullable<Details['artifacts']>>

const DIGEST_SHOWN = 12

/** Files and folders that an event's workloads, or one of them, have left. */
export function PanelArtifacts({ details }: { readonly details: Details }) {
  const { artifacts, kind } = details
  const shown = nodesOf(artifacts ?? null)
  if (!artifacts || shown.length === 0) return null
  return (
    <section aria-label="Artifacts">
      <h3>Artifacts</h3>
      <ul className="artifacts">
        {shown.map((artifact) => (
          <ArtifactRow key={artifact.id} artifact={artifact} isOfEvent={kind === 'EVENT'} />
        ))}
      </ul>
      {(artifacts.totalCount ?? 0) > shown.length && (
        <p className="quiet">
          and {(artifacts.totalCount ?? 0) - shown.length} more: `phaseline artifact list` has all of them
        </p>
      )}
    </section>
  )
}

function ArtifactRow({ artifact, isOfEvent }: { readonly artifact: Artifact; readonly isOfEvent: boolean }) {
  const { name, size, sha256, createdAt, expiresAt, object } = artifact
  const { state, save } = useDownload(artifact)
  const href = useObjectHref()
  return (
    <li>
      <div className="artifact-name">
        <b>{name}</b>{' '}
        <span className="quiet">
          {sizeOf(size)}, <Since at={createdAt} /> old
        </span>
      </div>
      <button type="button" disabled={state === 'loading'} onClick={() => void save()} aria-label={`Download ${name}`}>
        {state === 'loading' ? 'Downloading…' : 'Download'}
      </button>
      <p className="quiet">
        {isOfEvent && object && (
          <>
            left by <Link href={href(object.root.id, object.id)}>{object.name}</Link>,{' '}
          </>
        )}
        {expiresAt !== null && (
          <>
            expires <Until at={expiresAt} />,{' '}
          </>
        )}
        SHA-256 <code title={sha256}>{sha256.slice(0, DIGEST_SHOWN)}…</code>
      </p>
      {state !== 'loading' && state !== null && <p role="alert">{state}</p>}
    </li>
  )
}

/** Its digest is verified before the browser gets it as a file. `state` is a message if that has failed. */
function useDownload({ id, fileName }: Artifact): { readonly state: string | null; save(): Promise<void> } {
  const { client } = useSession()
  const [state, setState] = useState<string | null>(null)
  const save = async (): Promise<void> => {
    setState('loading')
    try {
      const { body } = await client.readArtifact(id)
      const pieces: BlobPart[] = []
      for await (const piece of body) pieces.push(piece as Uint8Array<ArrayBuffer>)
      saveBlob(fileName, new Blob(pieces, { type: 'application/octet-stream' }))
      setState(null)
    } catch (error) {
      setState(messageOf(error))
    }
  }
  return { state, save }
}
