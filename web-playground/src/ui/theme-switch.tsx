import { useState } from 'react'
import { chooseTheme, readTheme, THEMES, type Theme } from './theme.ts'

const LABELS: Readonly<Record<Theme, string>> = { system: 'System', light: 'Light', dark: 'Dark' }

export function ThemeSwitch() {
  const [theme, setTheme] = useState(readTheme)
  return (
    <select
      aria-label="Colours"
      value={theme}
      onChange={(event) => {
        const chosen = THEMES.find((each) => each === event.target.value) ?? 'system'
        chooseTheme(chosen)
        setTheme(chosen)
      }}
    >
      {THEMES.map((each) => (
        <option key={each} value={each}>
          {LABELS[each]}
        </option>
      ))}
    </select>
  )
}
