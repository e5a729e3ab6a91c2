/**
 * What the operator says of one provider: where it is and how it is treated. Light, for commands
 * that send nothing read it too.
 */

/**
 * `Settings` of the environment, `Simulator` where a simulator has it, `Origins` plain data that
 * crosses to worker threads.
 */
export interface Site<Settings, Simulator, Origins> {
  /** The operator has said where it is: then a simulator does not stand in for it. */
  isPlaced(settings: Settings): boolean;
  /** Whether the provider itself is there. */
  isReal(origin: string): boolean;
  /** The operator's word, else the simulator, if there is one, else the provider itself. */
  originsOf(settings: Settings, simulator: Simulator | null): Origins;
}
