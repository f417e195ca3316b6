import { useState } from 'react'
import { chooseTheme, readTheme, THEMES, type Theme } from './theme.ts'

/** The symbol is all that is seen of it while it is closed. */
const LABELS: Readonly<Record<Theme, string>> = { system: '◐\u2003System', light: '☀\u2003Light', dark: '☾\u2003Dark' }

export function ThemeSwitch() {
  const [theme, setTheme] = useState(readTheme)
  return (
    <select
      className="theme"
      aria-label="Colours"
      title="Colours"
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
