interface Props {
  readonly label: string
  readonly value: string
  /** Word for the empty value. */
  readonly all: string
  readonly onChange: (value: string) => void
  /** Values and their words. */
  readonly children: readonly (readonly string[])[]
}

/** A filter that is one of a few, or none. */
export function Choice({ label, value, all, onChange, children }: Props) {
  return (
    <label>
      <span>{label}</span>
      <select value={value} onChange={({ target }) => onChange(target.value)}>
        <option value="">{all}</option>
        {children.map(([one, words]) => (
          <option key={one} value={one}>
            {words}
          </option>
        ))}
      </select>
    </label>
  )
}
