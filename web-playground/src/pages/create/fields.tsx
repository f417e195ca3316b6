import { type ReactNode, useId } from 'react'
import { Link } from 'wouter'
import type { ProjectChoice } from '../../data/choices.ts'

interface FieldProps {
  readonly label: string
  readonly help?: ReactNode
  readonly problem?: string | null
  /** The attributes that a control needs for screen readers. */
  readonly children: (control: Control) => ReactNode
}
export interface Control {
  readonly id: string
  readonly 'aria-invalid': boolean
  readonly 'aria-describedby': string
}
export function Field({ label, help, problem = null, children }: FieldProps) {
  const id = useId()
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({ id, 'aria-invalid': problem !== null, 'aria-describedby': `${id}-about` })}
      <div id={`${id}-about`} className="field-about">
        {problem !== null && <p className="wrong">✗ {problem}</p>}
        {help && <p className="quiet">{help}</p>}
      </div>
    </div>
  )
}

interface TextFieldProps extends Omit<FieldProps, 'children'> {
  readonly value: string
  readonly onChange: (value: string) => void
  readonly disabled?: boolean
  readonly suggestions?: readonly string[]
}
export function TextField({ value, onChange, disabled = false, suggestions = [], ...field }: TextFieldProps) {
  const list = useId()
  return (
    <Field {...field}>
      {(control) => (
        <>
          <input
            {...control}
            value={value}
            disabled={disabled}
            autoComplete="off"
            spellCheck={false}
            list={suggestions.length > 0 ? list : undefined}
            onChange={({ target }) => onChange(target.value)}
          />
          {suggestions.length > 0 && (
            <datalist id={list}>
              {suggestions.map((one) => (
                <option key={one} value={one} />
              ))}
            </datalist>
          )}
        </>
      )}
    </Field>
  )
}

interface ProjectFieldProps {
  readonly value: string
  readonly projects: readonly ProjectChoice[] | null
  readonly onChange: (value: string) => void
  readonly problem?: string | null
  readonly disabled?: boolean
  /** The meaning of an empty choice; omitted: one must be chosen. */
  readonly none?: string
  readonly help?: ReactNode
}
export function ProjectField({
  value,
  projects,
  onChange,
  problem = null,
  disabled = false,
  none,
  help,
}: ProjectFieldProps) {
  const isMissing = projects !== null && value !== '' && !projects.some(({ name }) => name === value)
  const missing = isMissing ? `There is no project ${value} that you may see.` : null
  return (
    <Field
      label="Project"
      problem={problem ?? missing}
      help={
        isMissing ? (
          <>
            Choose another one, or make it on the page <Link href="/projects">Projects</Link>.
          </>
        ) : (
          help
        )
      }
    >
      {(control) => (
        <select {...control} value={value} disabled={disabled} onChange={({ target }) => onChange(target.value)}>
          {none !== undefined && <option value="">{none}</option>}
          {(isMissing || projects === null) && value !== '' && <option value={value}>{value}</option>}
          {projects?.map(({ name }) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}
