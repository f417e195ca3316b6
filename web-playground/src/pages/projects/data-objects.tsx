import { readJson } from 'phaseline/manifest'
import { type FormEvent, useState } from 'react'
import { Link } from 'wouter'
import type { DataObject, Project } from '../../data/projects-store.ts'
import { treeHref } from '../../ui/links.ts'
import { Since } from '../../ui/phase.tsx'
import { ScrollingText } from '../../ui/scrolling-text.tsx'
import { Outcome } from '../../ui/states.tsx'
import { DeleteButton, ThingsCard } from '../../ui/things-card.tsx'
import { useAct } from '../../ui/use-act.ts'
import type { Removal } from '../../ui/use-removal.tsx'

interface Props {
  readonly project: Project
  readonly mayWrite: boolean
  readonly onDone: () => Promise<unknown> | undefined
}

/** The data objects that roots of the project can import: exports of roots, and values that users have set. */
export function DataObjects({ project: { name, dataObjects, dataObjectCount }, mayWrite, onDone }: Props) {
  const acting = useAct(onDone)
  const removalOf = (data: DataObject): Removal => ({
    name: data.name,
    text: `Delete ${data.name}: whatever requires it waits from its next reconcile on.`,
    variables: { project: name, name: data.name },
  })
  return (
    <ThingsCard
      id="data"
      title="Data"
      about="What installations of this project can import, by name."
      none="There is none."
      things={dataObjects}
      row={(data, onDelete) => <Row key={data.name} data={data} onDelete={onDelete} />}
      total={dataObjectCount}
      mayWrite={mayWrite}
      deletion={{ field: 'deleteDataObject', of: removalOf }}
      acting={acting}
      form={<SetData project={name} onDone={onDone} />}
    />
  )
}

interface RowProps {
  readonly data: DataObject
  readonly onDelete: (() => void) | null
}
function Row({ data: { name, value, updatedAt, exporter }, onDelete }: RowProps) {
  return (
    <li>
      <details className="thing-name">
        <summary>
          <b>{name}</b>{' '}
        </summary>
        <ScrollingText>{JSON.stringify(value, null, 2)}</ScrollingText>
      </details>
      <span className="thing-end quiet">
        {exporter ? (
          <>
            by <Link href={treeHref(exporter.root.id, exporter.id)}>{exporter.name}</Link>,{' '}
          </>
        ) : (
          'set by a user, '
        )}
        <Since at={updatedAt} /> ago <DeleteButton name={name} onDelete={exporter ? null : onDelete} />
      </span>
    </li>
  )
}

function SetData({
  project,
  onDone,
}: {
  readonly project: string
  readonly onDone: () => Promise<unknown> | undefined
}) {
  const { busy, result, ask } = useAct(onDone)
  const [name, setName] = useState('')
  const [text, setText] = useState('')
  const read = readJson('The value', text)
  const isWrong = text !== '' && !read.ok
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault()
    if (!read.ok) return
    const { ok } = await ask({
      field: 'setDataObject',
      input: 'SetDataObjectInput',
      done: `${name} is set.`,
      variables: { project, name, value: read.value },
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
        {isWrong && `${read.message}. Text needs quotes: "${text.trim().slice(0, 20)}"`}
      </p>
      <Outcome result={result} />
    </form>
  )
}
