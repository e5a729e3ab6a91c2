/** What every sender promises, kept towards push services by our own HTTP/2. */

import t from 'tap';
import { webPushContract } from '../../../support/web-push-contract.ts';

webPushContract(t, 'http2');
