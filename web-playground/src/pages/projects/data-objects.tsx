import { type FormEvent, useState } from 'react'
import { Link } from 'wouter'
import type { DataObject, Project } from '../../data/projects-store.ts'
import { jsonOf } from '../../model/project.ts'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { treeHref } from '../../ui/links.ts'
import { Since } from '../../ui/phase.tsx'
import { Outcome } from '../../ui/states.tsx'
import { useAct } from '../../ui/use-act.ts'

interface Props {
  readonly project: Project
  readonly mayWrite: boolean
  readonly onDone: () => void
}

/** The data objects that roots of the project can import: exports of roots, and values that users have set. */
export function DataObjects({ project: { name, dataObjects, moreDataObjects }, mayWrite, onDone }: Props) {
  const { busy, result, ask } = useAct(onDone)
  const [doomed, setDoomed] = useState<string | null>(null)
  const remove = (data: string): void => {
    setDoomed(null)
    void ask({
      field: 'deleteDataObject',
      input: 'DeleteDataObjectInput',
      done: `${data} is deleted.`,
      variables: { project: name, name: data },
    })
  }
  return (
    <section className="card" aria-labelledby="data">
      <h3 id="data">Data</h3>
      <p className="quiet">What installations of this project can import, by name.</p>
      {dataObjects.length === 0 && <p className="quiet">There is none.</p>}
      <ul className="things">
        {dataObjects.map((data) => (
          <Row key={data.name} data={data} mayWrite={mayWrite && !busy} onDelete={setDoomed} />
        ))}
      </ul>
      {moreDataObjects && <p className="quiet">And more: the first 500 are shown.</p>}
      {mayWrite && <SetData project={name} onDone={onDone} />}
      {result?.ok === false && <Outcome result={result} />}
      {doomed !== null && (
        <ConfirmDialog
          title={`Delete ${doomed}?`}
          text={`Delete ${doomed}: whatever requires it waits from its next reconcile on.`}
          label="Delete"
          danger
          onConfirm={() => remove(doomed)}
          onClose={() => setDoomed(null)}
        />
      )}
    </section>
  )
}

interface RowProps {
  readonly data: DataObject
  readonly mayWrite: boolean
  readonly onDelete: (name: string) => void
}
function Row({ data: { name, value, updatedAt, exporter }, mayWrite, onDelete }: RowProps) {
  return (
    <li>
      <details>
        <summary>
          <b>{name}</b>{' '}
        </summary>
        <pre>{JSON.stringify(value, null, 2)}</pre>
      </details>
      <span className="thing-end quiet">
        {exporter ? (
          <>
            by <Link href={treeHref(exporter.root.id, exporter.id)}>{exporter.name}</Link>,{' '}
          </>
        ) : (
          'set by a user, '
        )}
        <Since at={updatedAt} /> ago{' '}
        {mayWrite && !exporter && (
          <button type="button" aria-label={`Delete ${name}`} onClick={() => onDelete(name)}>
            Delete
          </button>
        )}
      </span>
    </li>
  )
}

function SetData({ project, onDone }: { readonly project: string; readonly onDone: () => void }) {
  const { busy, result, ask } = useAct(onDone)
  const [name, setName] = useState('')
  const [text, setText] = useState('')
  const parsed = jsonOf(text)
  const isWrong = text !== '' && 'problem' in parsed
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault()
    if ('problem' in parsed) return
    const { ok } = await ask({
      field: 'setDataObject',
      input: 'SetDataObjectInput',
      done: `${name} is set.`,
      variables: { project, name, value: parsed.value },
    })
    if (!ok) return
    setName('')
    setText('')
  }
  return (
    <form className="inline-form" onSubmit={(event) => void submit(event)}>
      <label>
        <span>Name</span>
        <input value={name} required maxLength={253} onChange={({ target }) => setName(target.value)} />
      </label>
      <label className="grow">
        <span>Value, as JSON</span>
        <input
          value={text}
          required
          spellCheck={false}
          placeholder={'{"region": "eu"}'}
          aria-invalid={isWrong}
          aria-describedby="data-problem"
          onChange={({ target }) => setText(target.value)}
        />
      </label>
      <button type="submit" disabled={busy || isWrong}>
        Set
      </button>
      <p id="data-problem" className="problem" role="alert">
        {isWrong && parsed.problem}
      </p>
      <Outcome result={result} />
    </form>
  )
}
