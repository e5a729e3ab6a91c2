/** For fields inside a form that is not done with them: Enter in one does not send the form. */

/** To be attached to the element that has the fields. */
export function withoutSubmit(element: HTMLElement): () => void {
  const keep = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && event.target instanceof HTMLInputElement) event.preventDefault();
  };
  element.addEventListener('keydown', keep);
  return () => element.removeEventListener('keydown', keep);
}
