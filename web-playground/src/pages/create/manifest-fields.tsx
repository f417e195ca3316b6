import type { Refusal } from 'phaseline/client-model'
import { fieldsIn, setField } from 'phaseline/manifest'
import { type ReactNode, useMemo, useState } from 'react'
import { projectChoices } from '../../data/choices.ts'
import { problemOf } from '../../model/refusal.ts'
import { useLive } from '../../ui/session-context.ts'
import { ProjectField, TextField } from './fields.tsx'
import { LARGE } from './use-judged.ts'

/** The manifest's values; null where they cannot be read. */
interface Fields {
  readonly name: string | null
  readonly project: string | null
}
export function useFields(text: string, judged: string): Fields {
  const shown = text.length > LARGE ? judged : text
  return useMemo(() => {
    const fieldOf = fieldsIn(shown)
    return { name: fieldOf('name'), project: fieldOf('project') }
  }, [shown])
}

interface Props {
  readonly text: string
  readonly fields: Fields
  readonly onChange: (text: string) => void
  readonly refused: Refusal | null
  /** The note below the name. */
  readonly about?: ReactNode
}

/** Name and project of the manifest, which is the only place that has them. */
export function ManifestFields({ text, fields: { name, project }, onChange, refused, about }: Props) {
  const projects = useLive('projects', projectChoices)
  // A large text is not parsed for each letter: a typed value is used until it is.
  const [typed, setTyped] = useState<{ text: string; field: string; value: string } | null>(null)
  const shown = (field: string, read: string | null): string =>
    typed?.field === field && typed.text === text ? typed.value : (read ?? '')
  const set = (field: string, value: string): void => {
    const edit = setField(text, field, value)
    if (!edit) return
    const next = text.slice(0, edit.from) + edit.insert + text.slice(edit.to)
    setTyped({ text: next, field, value })
    onChange(next)
  }
  const unreadable = 'It cannot be read: fix the errors in the manifest first.'
  return (
    <div className="fields">
      <TextField
        label="Name"
        value={shown('name', name)}
        disabled={name === null}
        onChange={(value) => set('name', value)}
        problem={problemOf(refused, 'input.name')}
        help={name === null ? unreadable : about}
      />
      <ProjectField
        value={shown('project', project) || 'default'}
        projects={projects?.answer ?? null}
        disabled={project === null}
        onChange={(value) => set('project', value)}
        problem={problemOf(refused, 'input.project')}
        help={project === null ? unreadable : undefined}
      />
    </div>
  )
}
