/** Templates: an expression for each (app, platform) that turns a payload into another one. */

/** @publisherLimit characters of the template of an app on a platform → `400` */
export const TEMPLATE_LENGTH_MAX = 16_384;

/** @publisherLimit characters of JSON that a template makes → `400` of the push */
export const TEMPLATED_LENGTH_MAX = 65_536;

/**
 * Their expressions go to another process, five megabytes at most.
 * @publisherLimit templates that concern a push → `400`
 */
export const TEMPLATES_PER_PUSH_MAX = 300;
/** @limit failures of templates that are reported of a push → the others are not reported */
export const TEMPLATE_FAULTS_MAX = 20;

export interface TemplateFault {
  /** A sentence without its subject: "does not end within 1000 ms." */
  readonly why: string;
  /** Where in the expression, in UTF-16 code units from 0. */
  readonly position?: number;
}
