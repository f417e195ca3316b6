/** Parts of a page, from small to large: they take the focus when what had it goes. */
const PARTS = 'dialog, aside, main'

/** A part as it is found again after its content was replaced. */
interface Part {
  readonly element: HTMLElement
  readonly name: string
}

/**
 * The keyboard stays where it is when the link or button that has the focus is disabled for a moment, or replaced by what it has led
 * to: otherwise it would begin at the top of the page again, and a screen reader with it.
 */
export function keepFocus(): void {
  let last: HTMLElement | null = null
  let parts: readonly Part[] = []
  let isDisabled = false
  document.addEventListener('focusin', ({ target }) => {
    last = target instanceof HTMLElement ? target : null
    parts = partsAround(last)
    isDisabled = false
  })
  // Something without a focus was pressed: the keyboard continues there.
  document.addEventListener('pointerdown', () => {
    last = null
  })
  new MutationObserver(() => {
    const wasDisabled = isDisabled
    isDisabled = last?.matches(':disabled') ?? false
    if (last === null || document.activeElement !== document.body) return
    if (last.isConnected) {
      if (wasDisabled && !isDisabled) last.focus({ preventScroll: true })
      return
    }
    last = null
    const part = parts.map(present).find((one) => one !== null) ?? document.getElementById('main')
    if (!part) return
    if (!part.hasAttribute('tabindex')) part.tabIndex = -1
    part.focus({ preventScroll: true })
  }).observe(document.body, { subtree: true, childList: true, attributeFilter: ['disabled'] })
}

function partsAround(element: Element | null): readonly Part[] {
  const part = element?.parentElement?.closest<HTMLElement>(PARTS)
  return part ? [{ element: part, name: nameOf(part) }, ...partsAround(part)] : []
}

/** The part itself, or the one that has replaced it. */
const present = ({ element, name }: Part): HTMLElement | null =>
  element.isConnected
    ? element
    : ([...document.querySelectorAll<HTMLElement>(element.localName)].find((one) => nameOf(one) === name) ?? null)

const nameOf = (part: HTMLElement): string => part.getAttribute('aria-label') ?? ''
