import { type RefObject, type SyntheticEvent, useLayoutEffect, useRef } from 'react'

/** Of a `<dialog>`. */
interface ModalProps {
  readonly ref: RefObject<HTMLDialogElement | null>
  readonly onCancel: (event: SyntheticEvent) => void
  readonly onClose: () => void
}

/** A dialog that is open while it is rendered. When it closes, the focus returns at once, so that no key is lost. */
export function useModal(onClose: () => void): ModalProps {
  const dialog = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const opener = document.activeElement
    const element = dialog.current
    element?.showModal()
    return () => {
      // Nothing outside can have the focus while the dialog is open.
      element?.close()
      if (opener instanceof HTMLElement) opener.focus()
    }
  }, [])
  return {
    ref: dialog,
    // Escape closes it by rendering it no more: the browser would close it first and tell of it later, and an Enter in between is lost.
    onCancel(event) {
      event.preventDefault()
      onClose()
    },
    // The browser closes it all the same when Escape comes twice.
    onClose,
  }
}
