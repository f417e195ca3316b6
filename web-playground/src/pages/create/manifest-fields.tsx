import { getField, setField } from 'phaseline/manifest'
import type { ReactNode } from 'react'
import { projectChoices } from '../../data/choices.ts'
import { problemOf, type Refusal } from '../../model/refusal.ts'
import { useLive } from '../../ui/session-context.ts'
import { ProjectField, TextField } from './fields.tsx'

interface Props {
  readonly text: string
  readonly onChange: (text: string) => void
  readonly refused: Refusal | null
  /** Said below the name. */
  readonly about?: ReactNode
}

/** Name and project, as the manifest has them: there is no other place for them. */
export function ManifestFields({ text, onChange, refused, about }: Props) {
  const projects = useLive('projects', projectChoices)
  const name = getField(text, 'name')
  const project = getField(text, 'project')
  const set = (field: string, value: string): void => {
    const edit = setField(text, field, value)
    if (edit) onChange(text.slice(0, edit.from) + edit.insert + text.slice(edit.to))
  }
  const unreadable = 'It cannot be read from the manifest: mend that first.'
  return (
    <div className="fields">
      <TextField
        label="Name"
        value={name ?? ''}
        disabled={name === null}
        onChange={(value) => set('name', value)}
        problem={problemOf(refused, 'input.name')}
        help={name === null ? unreadable : about}
      />
      <ProjectField
        value={project || 'default'}
        projects={projects?.answer ?? null}
        disabled={project === null}
        onChange={(value) => set('project', value)}
        problem={problemOf(refused, 'input.project')}
        help={project === null ? unreadable : undefined}
      />
    </div>
  )
}
