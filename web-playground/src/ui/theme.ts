/** Light and dark follow the system unless the user has chosen; the choice outlives the tab. */
export type Theme = 'system' | 'light' | 'dark'
export const THEMES: readonly Theme[] = ['system', 'light', 'dark']
const KEY = 'phaseline-theme'

export function readTheme(): Theme {
  const kept = localStorage.getItem(KEY)
  return THEMES.find((theme) => theme === kept) ?? 'system'
}
export function applyTheme(theme: Theme = readTheme()): void {
  document.documentElement.dataset.theme = theme
}
export function chooseTheme(theme: Theme): void {
  if (theme === 'system') localStorage.removeItem(KEY)
  else localStorage.setItem(KEY, theme)
  applyTheme(theme)
}
